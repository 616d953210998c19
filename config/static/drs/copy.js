// Buttons with data-copy="text" copy it and say so. Without this script they stay hidden.
"use strict";

if (navigator.clipboard) {
  const told = document.createElement("p");
  told.className = "visually-hidden";
  told.ariaLive = "polite";
  document.body.append(told);

  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    told.textContent = `Copied ${button.dataset.copy}`;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
