/** Lets the reader choose a letter's file, and shows what verify.js finds. All words are in the page's templates. */

import { check, NoProof, SECTIONS } from "./verify.js";

const byId = (id) => document.getElementById(id);
const published = JSON.parse(byId("published").textContent);
let latest; // the file that was chosen last: a check that takes longer must not show its result over a later one

byId("unscripted").hidden = true;
if (globalThis.crypto?.subtle) {
  byId("chooser").hidden = false;
  byId("file").addEventListener("change", ({ target }) => target.files.length && examine(target.files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return; // text that is dropped into the form
    event.preventDefault();
    examine(event.dataTransfer.files[0]);
  });
} else {
  byId("insecure").hidden = false; // browsers have WebCrypto on secure pages alone
}

async function examine(file) {
  latest = file;
  const found = await checked(file);
  if (file !== latest) return;
  const report = filled("report", { verdict: verdict(found), ...found?.checks }, { received: day(found?.receivedAt) });
  if (!found) report.querySelector(".checks").remove();
  if (found?.letter) printLetter(report, found);
  else report.querySelector(".letter").remove();
  byId("outcome").replaceChildren(report);
  byId("outcome").querySelector("h3").focus();
}

/** What was found in a file; null if it cannot be read, or is no letter. */
async function checked(file) {
  try {
    return await check(new Uint8Array(await file.arrayBuffer()), published);
  } catch (error) {
    if (error instanceof NoProof || error instanceof DOMException) return null;
    throw error;
  }
}

function verdict(found) {
  if (!found) return "no_proof";
  const { shown, ...proof } = found.checks;
  if (Object.values(found.checks).includes(false)) return "forged";
  if (Object.values(proof).includes(null)) return "unsigned";
  return shown ? "genuine" : "proved";
}

function printLetter(report, { letter, statements }) {
  for (const place of report.querySelectorAll("[data-fields]")) {
    const said = place.dataset.fields.split(" ").flatMap((field) => printed(field, letter.content, statements));
    if (said.length) place.append(...said);
    else place.remove();
  }
}

/** A field of the letter as elements: sentences with their sources, or paragraphs. */
function printed(field, content, statements) {
  if (SECTIONS.includes(field)) return statements.filter(({ section }) => section === field).map(sentence);
  return [content[field] ?? []].flat().filter(Boolean).map(paragraph);
}

function sentence({ statement, source, path, value }) {
  const proved = value !== undefined;
  const shown = filled("statement", { proved }, { statement, source, path, value: proved ? readable(value) : "" });
  if (path === source) shown.querySelector(".path").remove();
  return shown;
}

function paragraph(text) {
  const element = document.createElement("p");
  element.dir = "auto";
  element.textContent = text;
  return element;
}

/** A scalar without JSON's quotes and escapes; a number stays as the record spells it. */
function readable(scalar) {
  return scalar.startsWith('"') ? JSON.parse(scalar) : scalar;
}

function day(moment) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long", timeZone: "UTC" });
  return moment ? format.format(new Date(moment)) : "";
}

/** A copy of a template, of which each `choices` keeps what is the case, with `texts` in their slots. */
function filled(template, choices, texts) {
  const copy = byId(template).content.cloneNode(true);
  for (const [name, value] of Object.entries(choices)) {
    for (const each of copy.querySelectorAll(`[data-choice="${name}"] > [data-if]`)) {
      if (each.dataset.if !== String(value)) each.remove();
    }
  }
  for (const [name, text] of Object.entries(texts)) copy.querySelector(`[data-slot="${name}"]`).textContent = text;
  return copy;
}
