"""The front door: one ASGI application that waits for clients, so that no thread does.

It reads every body itself, with limits and a deadline, and only then gives the request to Django, which answers in a
bounded pool of threads; the answer is complete before its first byte is sent. So whoever sends or reads slowly holds a
connection and a little memory, and nothing that others need.

`application` puts it together · `requests` what has come in, and what goes out · `bodies` reading, `senders` whose they
are, `rooms` how many bytes are in flight, `spools` where they lie · `threads` Django,
`turns` who gets one and `groups` who shares them · `lanes` requests that an app
answers without Django · `answers` what the front says itself
"""
