// Adding, removing and moving sentences without a round trip. Without this file, the numbers and boxes do the same.
"use strict";

for (const group of document.querySelectorAll("[data-sentences]")) {
  const rows = group.querySelector(".rows");
  const total = group.querySelector("[name$=TOTAL_FORMS]");
  const blank = group.querySelector("template");

  const number = () => [...rows.children].forEach((row, place) => { row.querySelector("[name$=ORDER]").value = place + 1; });

  const button = (label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", act);
    return made;
  };

  const equip = (row) => {
    const order = row.querySelector("[name$=ORDER]");
    const removed = row.querySelector("[name$=DELETE]");
    order.parentElement.querySelector("label").hidden = order.hidden = true;
    const move = (sibling, before) => {
      if (!sibling) return;
      sibling[before ? "before" : "after"](row);
      number();
      row.querySelector("textarea").focus();
    };
    order.parentElement.prepend(
      button("Up", () => move(row.previousElementSibling, true)),
      button("Down", () => move(row.nextElementSibling, false)),
    );
    removed?.addEventListener("change", () => row.classList.toggle("removed", removed.checked));
  };

  group.append(button("Add a sentence", () => {
    const made = blank.content.firstElementChild.cloneNode(true);
    const place = total.value;
    for (const part of made.querySelectorAll("[name], [for], [id]"))
      for (const attribute of ["name", "for", "id"])
        if (part.hasAttribute(attribute)) part.setAttribute(attribute, part.getAttribute(attribute).replace("__prefix__", place));
    total.value = Number(place) + 1;
    rows.append(made);
    equip(made);
    number();
    made.querySelector("textarea").focus();
  }));
  [...rows.children].forEach(equip);
}
