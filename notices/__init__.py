"""Notices to the persons affected. Where things are:

- what law asks for: `packs/` (data), `deadlines` (until when), `checklist` (whether a notice has it)
- what a notice says: `record_paths` (what it cites), `outcomes` and `outcome_parts` (what the record's words mean),
  `phrasebook`, `localization/`, `drafting/`, `readability`; what it does not: `untold`, `unit_conflicts`
- what happens to it: `services/`, one module a use case; nothing else writes
- what goes out: `letters/` (HTML, PDF, text), `mails/`, `public/` (where a letter is checked)
- the doors: `api/`, `admin/` with `back_office/`, `management/commands/`, `tasks`; they call services and hold no rules

Law, words and letters know no models: pyproject.toml names those modules in a contract.
"""
