// Adding, removing and moving sentences without a round trip, and the value of a source as soon as it is chosen.
// Without this file, the numbers and boxes do the same, and the values show after saving.
"use strict";

const values = new Map([...document.querySelectorAll("#sources option")].map((each) => [each.value, each.label]));
const form = document.querySelector(".edit-notice");
let unsaved = form.querySelector("[role=alert]") !== null; // refused, so what was typed is only here

function button(label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "plain";
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}

for (const group of document.querySelectorAll("[data-sentences]")) {
  const rows = group.querySelector(".rows");
  const total = group.querySelector("[name$=TOTAL_FORMS]");
  const blank = group.querySelector("template");

  const number = () => {
    [...rows.children].forEach((row, place) => {
      row.querySelector("[name$=ORDER]").value = place + 1;
      const [up, down] = row.querySelectorAll(".place button");
      up.disabled = place === 0;
      down.disabled = row === rows.lastElementChild;
      up.ariaLabel = `Move sentence ${place + 1} up`;
      down.ariaLabel = `Move sentence ${place + 1} down`;
    });
  };

  const equip = (row) => {
    const order = row.querySelector("[name$=ORDER]");
    const removed = row.querySelector("[name$=DELETE]");
    order.parentElement.querySelector("label").hidden = order.hidden = true;
    const move = (direction, sibling, pressed) => {
      sibling[direction](row);
      number();
      unsaved = true;
      const other = row.querySelector(".place button:enabled");
      (pressed.disabled ? other : pressed).focus();
    };
    order.parentElement.prepend(
      button("Up", (event) => move("before", row.previousElementSibling, event.target)),
      button("Down", (event) => move("after", row.nextElementSibling, event.target)),
    );
    removed?.addEventListener("change", () => row.classList.toggle("removed", removed.checked));
  };

  group.append(button("Add a sentence", () => {
    const made = blank.content.firstElementChild.cloneNode(true);
    for (const part of made.querySelectorAll("[name], [for], [id]"))
      for (const attribute of ["name", "for", "id"])
        if (part.hasAttribute(attribute))
          part.setAttribute(attribute, part.getAttribute(attribute).replace("__prefix__", total.value));
    total.value = Number(total.value) + 1;
    rows.append(made);
    equip(made);
    number();
    made.querySelector("textarea").focus();
  }));
  [...rows.children].forEach(equip);
  number();
}

function showValue(source) {
  const path = source.value.trim();
  const output = source.parentElement.querySelector("output");
  output.textContent = values.get(path) ?? (path && "not in the list; it is looked up when you save");
}
form.addEventListener("input", (event) => {
  unsaved = true;
  if (event.target.name.endsWith("-source")) showValue(event.target);
});
for (const source of form.querySelectorAll("[name$='-source']")) // typed before this script was there
  if (source.value !== source.defaultValue) showValue(source);
form.addEventListener("keydown", (event) => { // that would save
  if (event.key === "Enter" && event.target.matches("input[list]")) event.preventDefault();
});
form.addEventListener("submit", () => { unsaved = false; });
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
