"""An invalid setting is named without its value."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

from config.environment import Environment
from tests.cases import each_case

READ = {
    "number": lambda env: env.int("SOME", default=1),
    "flag": lambda env: env.bool("SOME", default=False),
    "text": lambda env: env.str("SOME", default=""),
    "word": lambda env: env.one_of("SOME", "INFO", "WARNING", default="INFO"),
    "hosts": lambda env: env.hosts_and_networks("SOME"),
}


def read(kind, given):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        environment = Environment()
        environment.ENVIRON = FileAwareMapping(cache=False)
        return READ[kind](environment)


@each_case(
    ("kind", "given", "sentence"),
    [
        ("number", {"SOME": "lots"}, "SOME must be a whole number."),
        ("number", {"SOME": ""}, "SOME must be a whole number."),
        ("flag", {"SOME": "maybe"}, "SOME must be true or false."),
        ("text", {"SOME_FILE": "/no/such"}, "SOME_FILE names a file that cannot be read: No such file or directory."),
        ("flag", {"SOME_FILE": "/"}, "SOME_FILE names a file that cannot be read: Is a directory."),
        ("text", {"SOME_FILE": "/dev/null"}, "SOME_FILE names a file that is empty."),
        ("word", {"SOME": "LOUD"}, "SOME must be one of: INFO, WARNING."),
        ("hosts", {"SOME": "db.internal,10.1.2.3/16"}, "SOME: 10.1.2.3/16 has host bits set."),
        ("hosts", {"SOME": "10.0.0.0/99"}, "SOME: '10.0.0.0/99' does not appear to be an IPv4 or IPv6 network."),
    ],
)
def test_an_invalid_setting_is_refused_with_what_it_must_be(kind, given, sentence):
    with pytest.raises(ImproperlyConfigured) as refused:
        read(kind, given)
    assert str(refused.value) == sentence


@each_case(
    ("kind", "given", "value"),
    [
        ("number", {}, 1), ("number", {"SOME": "7"}, 7), ("flag", {}, False), ("flag", {"SOME": " Yes"}, True),
        ("flag", {"SOME": "off"}, False), ("flag", {"SOME": ""}, False), ("word", {"SOME": "warning "}, "WARNING"),
        ("word", {}, "INFO"), ("hosts", {}, []),
        ("hosts", {"SOME": "db.internal,::1,10.1.0.0/16"}, ["db.internal", "::1", "10.1.0.0/16"]),
    ],
)  # fmt: skip
def test_a_valid_setting_is_read(kind, given, value):
    assert read(kind, given) == value
