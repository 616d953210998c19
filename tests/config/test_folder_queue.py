"""The queue in a folder, without Redis, neither loses a message that is being written nor lets messages pile up."""

import json

import pytest
from kombu import Connection
from kombu.transport import filesystem
from kombu.transport.virtual import base

from config import folder_queue, settings


class Slept(Exception):
    pass


@pytest.fixture
def connection(tmp_path):
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path), "control_folder": str(tmp_path)}
    with Connection(settings.CELERY_BROKER_URL, transport=settings.CELERY_BROKER_TRANSPORT) as connection:
        connection.transport_options = folders
        yield connection


def test_a_worker_never_reads_a_message_that_is_still_being_written(connection, monkeypatch):
    sender, worker = connection.channel(), connection.channel()
    read = []

    def dumps_and_read(payload):
        read.append(worker._size("mail") and worker._get("mail"))
        return json.dumps(payload)

    for module in (filesystem, folder_queue):
        monkeypatch.setattr(module, "dumps", dumps_and_read)
    sender._put("mail", {"task": "deliver"})
    assert read == [0]
    assert worker._get("mail") == {"task": "deliver"}


def test_messages_are_taken_in_the_order_in_which_they_were_sent(connection):
    channel = connection.channel()
    for number in range(20):
        channel._put("mail", number)
    assert [channel._get("mail") for _ in range(20)] == list(range(20))


def test_a_worker_pauses_only_a_fifth_of_a_second_after_each_task(connection, monkeypatch):
    def stop(seconds):
        raise Slept(seconds)

    monkeypatch.setattr(base, "sleep", stop)
    with pytest.raises(Slept, match=r"^0\.2$"):
        connection.drain_events(timeout=2)
