"""Notices to affected persons. The modules by topic:

- the law's demands: `packs/` (data), `deadlines`, `checklist` (whether a notice meets them)
- the words of a notice: `record_paths` (cited fields) and `mapped_facts` (as a mapping reads them), `phrasebook`,
  `localization/`, `drafting/`, `readability`; their gaps: `untold`
- changes: `services/`, a module for each use case; no other module writes
- output: `letters/` (HTML, PDF, text), `mails/`, `public/` (the page that checks a letter)
- entry points: `api/`, `admin/` with `back_office/`, `management/commands/`, `tasks`; they call services and hold no
  rules

Packs, words and letters know no models: pyproject.toml names those modules in a contract.
"""
