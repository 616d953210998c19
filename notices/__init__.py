"""Notices to the persons affected. Where things are:

- what law asks for: `packs/` (data), `clocks` (until when), `checklist` (whether a notice has it)
- what a notice says: `facts` (paths into the record), `phrasebook`, `wording/`, `drafting/`, `readability`
- what happens to it: `services/`, one module a use case; nothing else writes
- what goes out: `letters/` (HTML, PDF, text; it knows no models), `mails/`, `public/` (where a letter is checked)
- the doors: `api/`, `admin/` with `back_office/`, `management/commands/`, `tasks`; they call services and hold no rules
"""
