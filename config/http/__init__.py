"""HTTP: the ASGI front that clients speak to, and what every API of an app is built on.

The front is one ASGI application that waits for clients, so that no thread does. It reads a request's body itself,
within limits and a deadline, and then gives the request to Django, which answers in a bounded pool of threads. The
answer is complete before its first byte is sent. A slow client holds a connection and a little memory, and nothing that
others need.

The front: `application` puts it together · `messages` requests and answers · `body_reader`, `sender_name`,
`memory_budget` and `spool` read a body · `request_threads`, `fair_turns` and `request_groups` share Django's threads ·
`lanes` requests that an app answers without Django · `front_answers` what the front answers itself

The APIs: `body`, `strict_json` and `validation` read what clients send · `views`, `resources`, `cursors` and
`json_responses` answer · `error_answers` maps domain errors · `openapi` and `document` describe it all
"""
