// Rewrite times into the reader's zone. Focus on a time, or on a link in its row, and hovering show UTC again.
"use strict";

const inZone = new Intl.DateTimeFormat("en", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
});
const texts = new Map();

for (const time of document.querySelectorAll("time[title]")) {
  const part = Object.fromEntries(inZone.formatToParts(new Date(time.dateTime)).map(({ type, value }) => [type, value]));
  const local = `${part.day} ${part.month} ${part.year}, ${part.hour}:${part.minute} ${part.timeZoneName}`;
  texts.set(time, { utc: time.textContent, local });
  time.textContent = local;
  if (!time.closest("tr, a")) time.tabIndex = 0; // in rows, the row's link shows UTC: no further tab stops
}

function show(zone, time) {
  if (texts.has(time)) time.textContent = texts.get(time)[zone];
}

function around(node) {
  const near = node.closest("time") ?? node.closest("tr") ?? node.closest("a");
  return near ? [near, ...near.querySelectorAll("time")] : [];
}

for (const [event, zone] of [["focusin", "utc"], ["focusout", "local"]])
  document.addEventListener(event, ({ target }) => { for (const time of around(target)) show(zone, time); });
for (const [event, zone] of [["mouseover", "utc"], ["mouseout", "local"]])
  document.addEventListener(event, ({ target }) => show(zone, target));
window.addEventListener("beforeprint", () => { for (const time of texts.keys()) show("utc", time); });
window.addEventListener("afterprint", () => { for (const time of texts.keys()) show("local", time); });
