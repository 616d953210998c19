// Buttons with data-copy="text" copy that text and announce it. Without this script they stay hidden.
"use strict";

if (navigator.clipboard) {
  const announcement = document.createElement("p");
  announcement.className = "visually-hidden";
  announcement.ariaLive = "polite";
  document.body.append(announcement);

  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    announcement.textContent = `Copied ${button.dataset.copy}`;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
