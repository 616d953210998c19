// Keyboard shortcuts for a page's elements. An element's data-key is its key, and `?` lists all of them.
// j and k step through elements with data-step and through the rows of a list.
"use strict";

const OFF = "keys-off";
const FIELDS = "input, select, textarea, [contenteditable]";
const STEPS = "[data-step], #result_list tbody th a";
const hint = document.querySelector(".keys-hint");

const isOff = () => localStorage.getItem(OFF) === "yes";
const usable = (element) => !element.disabled && element.checkVisibility();
const offered = () => [...document.querySelectorAll("[data-key]")].filter(usable);

function name(element) {
  const label = element.labels?.[0]?.textContent;
  return (element.dataset.keyLabel || element.ariaLabel || label || element.textContent || element.value).trim();
}

function press(element) {
  if (element.matches(FIELDS) && !element.matches("[type=submit]")) return element.focus();
  if (element.matches("summary")) element.focus(); // so that Tab continues into its content
  element.click();
}

function step(by) {
  const steps = [...document.querySelectorAll(STEPS)].filter(usable);
  const here = steps.indexOf(document.activeElement);
  const next = here < 0 ? steps[by > 0 ? 0 : steps.length - 1] : steps[here + by];
  next?.focus();
}

function make(tag, text, ...children) {
  const element = document.createElement(tag);
  element.append(...(text ? [text] : []), ...children);
  return element;
}

function row(key, text) {
  return make("tr", "", make("th", "", make("kbd", key)), make("td", text));
}

function list() {
  const keys = offered().map((element) => row(element.dataset.key, name(element)));
  if (document.querySelector(STEPS)) keys.push(row("j", "Next line"), row("k", "Previous line"));
  const title = make("h2", "Keyboard");
  title.id = "keys-title";
  const silent = make("button", isOff() ? "Turn single keys on" : "Turn single keys off");
  const close = make("button", "Close");
  const dialog = make("dialog", "", title, make("table", "", row("?", "This list"), ...keys), silent, close);
  dialog.className = "keys";
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.addEventListener("close", () => dialog.remove());
  close.addEventListener("click", () => dialog.close());
  silent.addEventListener("click", () => {
    localStorage.setItem(OFF, isOff() ? "no" : "yes");
    dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}

document.addEventListener("keydown", (event) => {
  const busy = event.ctrlKey || event.metaKey || event.altKey || event.isComposing;
  if (busy || isOff() || event.target.matches(FIELDS) || document.querySelector("dialog[open]")) return;
  const asked = offered().find((element) => element.dataset.key === event.key);
  if (event.key === "?") list();
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (asked) press(asked);
  else return;
  event.preventDefault();
});

hint.hidden = false;
hint.addEventListener("click", list);
