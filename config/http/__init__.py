"""HTTP: the ASGI front that clients connect to, and the base of every app's API.

The front is one ASGI application. It waits for clients, so that no thread has to: it reads the whole body within limits
and a deadline, then hands the request to Django, which answers in a bounded pool of threads. The answer is complete
before its first byte is sent. A slow client therefore holds a connection and a little memory, but no thread.

The front: `application` puts it together · `messages` are requests and answers · `body_reader`, `sender_name`,
`memory_budget` and `spool` read a body · `request_threads`, `fair_turns` and `request_groups` share Django's threads ·
`lanes` answer frequent requests without Django · `front_answers` builds the front's own answers

The APIs: `body`, `strict_json` and `validation` read requests, with the types in `schemas`, `timestamps` and `numbers`
· `converters` match paths · `views`, `resources`, `cursors` and `json_responses` answer · `error_answers` maps domain
errors · `openapi` and `document` describe the API
"""
