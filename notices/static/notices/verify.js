/**
 * Checks the file of a letter against a signed record. When that came in, and that no other exists, it cannot check.
 *
 * It runs in the reader's browser and touches neither the network nor the page. The checks of the proof are those of
 * custody/fields.py and custody/merkle.py, and come from
 *   DSSE, what is signed              github.com/secure-systems-lab/dsse/blob/master/protocol.md
 *   in-toto Statement v1, what it says  github.com/in-toto/attestation/tree/main/spec/v1
 *   Ed25519, by what                  RFC 8032
 *   Merkle inclusion proofs           RFC 9162, sections 2.1.1 and 2.1.3.2
 */

const LETTER_TYPE = "decision-record-letter/1";
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE = "urn:x-decision-record-service:custody:v1";
const LEAF = Uint8Array.of(0); // What is hashed begins differently for leaves and for nodes,
const NODE = Uint8Array.of(1); // so that nobody can pass a node off as a leaf.
const NUL = Uint8Array.of(0);

/** The parts of a letter that consist of sentences with a source, in the order in which it prints them. */
export const SECTIONS = ["decision_summary", "main_factors", "role_of_automated_system", "inputs_used"];

/** All of a letter that was approved, in the order in which it prints it. */
const PRINTED = [
  "title",
  ...SECTIONS,
  "how_to_request_inputs",
  "rights",
  "how_to_request_review",
  "deadline_note",
];

/** The file is no letter of ours: no proof file is in it. */
export class NoProof extends Error {}

/**
 * Runs every check, also after one has failed, so that the reader learns what is wrong.
 *
 * @param {Uint8Array} file a letter as PDF or HTML, or its proof file
 * @param {{digest: string, html_digest: string, keys: {id: string, pem: string}[]}} published what the page says of the
 *     letter: SHA-256 (hex) of its proof file and of `exactly` its HTML file, and the organization's public signing keys
 * @returns {Promise<object>} `checks`: true, false, or null for what cannot be checked. If the digest is right,
 *     also `letter` (the proof file), `receivedAt`, and `statements` with the value that is proved for each; without
 *     it, nothing in the file is worth showing.
 * @throws {NoProof}
 */
export async function check(file, { digest, html_digest, keys }) {
  const proofFile = await proofFileIn(file, digest);
  const letter = await attempt(() => JSON.parse(new TextDecoder().decode(proofFile)));
  const record = await attempt(() => signedRecord(letter.envelope));
  const proved = (await attempt(() => provedFields(letter.field_proofs, record.fields))) || new Map();
  const statements = (await attempt(() => citations(letter, proved))) || [];
  const checks = {
    digest: toHex(await sha256(proofFile)) === digest,
    signature: await attempt(() => isSigned(letter.envelope, keys)),
    fields: await attempt(() => Boolean(record) && proved.size === letter.field_proofs.length),
    statements: await attempt(() => letter.type === LETTER_TYPE && citesExactly(statements, letter.field_proofs)),
    shown: await attempt(() => showsLetter(file, letter, html_digest)),
  };
  return checks.digest ? { checks, letter, statements, receivedAt: record.receivedAt } : { checks };
}

/** What `step` gives; false if the file is not of the shape that it needs. A file that is no letter proves nothing. */
async function attempt(step) {
  try {
    return await step();
  } catch {
    return false;
  }
}

// ── The signed statement ──

/** What the signed statement says of the record: `fields` (`root`, `count`) and `receivedAt`. */
function signedRecord({ payload, payloadType }) {
  const { _type, predicateType, predicate } = JSON.parse(new TextDecoder().decode(fromBase64(payload)));
  const known = payloadType === PAYLOAD_TYPE && _type === STATEMENT_TYPE && predicateType === PREDICATE_TYPE;
  return known && predicate;
}

/** Whether a key of the organization signed the envelope; null if this browser does not know Ed25519. */
async function isSigned({ payload, payloadType, signatures }, keys) {
  const signed = preAuthenticationEncoding(payloadType, fromBase64(payload));
  for (const { keyid, sig } of signatures) {
    const key = keys.find(({ id }) => id === keyid);
    if (!key) continue;
    const imported = await importKey(key.pem);
    if (!imported) return null;
    if (await crypto.subtle.verify("Ed25519", imported, fromBase64(sig), signed)) return true;
  }
  return false;
}

async function importKey(pem) {
  const der = fromBase64(pem.replace(/-----[^-]+-----/g, ""));
  try {
    return await crypto.subtle.importKey("spki", der, "Ed25519", false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") return null;
    throw error;
  }
}

/** DSSE's PAE: type and body, each after its length in bytes, so that neither can be taken for the other. */
function preAuthenticationEncoding(type, body) {
  const typeBytes = toBytes(type);
  return concatenated(toBytes(`DSSEv1 ${typeBytes.length} `), typeBytes, toBytes(` ${body.length} `), body);
}

// ── The fields of the record ──

/** The fields that belong to the record: by path, their values as the record spells them. */
async function provedFields(proofs, commitment) {
  const proved = new Map();
  for (const proof of proofs) {
    if (await attempt(() => leadsToRoot(proof, commitment))) proved.set(proof.path, proof.scalar);
  }
  return proved;
}

/** RFC 9162, 2.1.3.2: walk from the leaf to the root, hashing each sibling on its side. */
async function leadsToRoot({ path, scalar, salt, index, audit_path: siblings }, { root, count }) {
  if (!Number.isSafeInteger(index) || index < 0 || index >= count) return false;
  // The salt has a fixed length: were it free, its end could be told as the beginning of the path.
  let node = await sha256(LEAF, fromHex(salt), toBytes(path), NUL, toBytes(scalar));
  let position = index;
  let last = count - 1;
  for (const sibling of siblings.map(fromHex)) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      node = await sha256(NODE, sibling, node);
      while (position % 2 === 0 && position > 0) {
        position = half(position);
        last = half(last);
      }
    } else {
      node = await sha256(NODE, node, sibling);
    }
    position = half(position);
    last = half(last);
  }
  return last === 0 && toHex(node) === root;
}

// ── The sentences of the letter ──

/** Each sentence with the source it names, the field that this is in the record, and the proved value, if there is one. */
function citations({ content, sources }, proved) {
  return SECTIONS.flatMap((section) =>
    (content[section] ?? []).map(({ statement, source }) => {
      const path = sources[source]; // or what every object inherits, which is no proved path
      return { section, statement, source, path, value: proved.get(path) };
    }),
  );
}

/** Every sentence rests on a proved field, and the file proves no field besides, nor one twice. */
function citesExactly(statements, proofs) {
  const cited = new Set(statements.map(({ path }) => path));
  return statements.every(({ value }) => value !== undefined) && cited.size === proofs.length;
}

// ── What the file shows when it is opened ──

/**
 * Whether the reader of the file sees the approved letter. True if it is the HTML file that is given out; false if its
 * sentences are others. Null for what nobody can tell: a PDF can show anything, and so can the styles of a page, even
 * if its text is right. An HTML file from before letters looked as they do now is such a page.
 */
async function showsLetter(file, { content }, htmlDigest) {
  const text = new TextDecoder().decode(file);
  if (kindOf(text) !== "html") return null;
  if (toHex(await sha256(toBytes(exactly(text)))) === htmlDigest) return true;
  return shownSentences(text) === approvedSentences(content) ? null : false;
}

/** A line of an address as notices/letters/recipient.py bounds it: characters, of which markup spells some longer. */
const LINE = "(?:&(?:amp|lt|gt|quot|#x27);|[^<&]){1,80}";
const RECIPIENT = new RegExp(`(<p class="recipient">)(?:<span dir="(?:ltr|rtl)">${LINE}</span>){1,8}`, "u");
const REFERENCE = new RegExp(`(<div class="reference"><dt>[^<]*</dt><dd dir=)"(?:ltr|rtl)">${LINE}`, "u");

const GREETED = new RegExp(`(<bdi class="addressee">)${LINE}`, "u");

/**
 * An HTML letter without what notices/public/html_digest.py leaves out of its digest, as long as that has no markup and is no
 * longer than an address: in more space a forger could write a letter of their own above the genuine one.
 */
function exactly(html) {
  return html
    .replace(RECIPIENT, "$1")
    .replace(REFERENCE, '$1"ltr">…')
    .replace(GREETED, "$1…")
    .replace(/(<strong class="code">)[A-Z2-7]{4}-[A-Z2-7]{4}/, "$1…");
}

/** The title and what stands in the sections, without headings and the numbers of sources. */
function shownSentences(html) {
  const inert = document.createElement("template"); // nothing in it is rendered, loaded or run
  inert.innerHTML = html;
  inert.content.querySelectorAll("h2, sup").forEach((each) => each.remove());
  const parts = inert.content.querySelectorAll("h1, section:not(.sources, .check)");
  return plain(Array.from(parts, ({ textContent }) => textContent));
}

function approvedSentences(content) {
  const printed = PRINTED.flatMap((field) => content[field] ?? []);
  return plain(printed.map((each) => each.statement ?? each));
}

/** Texts as one line, without what notices/letters/outline.py does not print, and what the letter's markup adds. */
function plain(texts) {
  return texts
    .join(" ")
    .replace(/[\s\u2060\u2068\u2069\ufffd\p{Cc}\p{Cs}\p{Co}\p{Noncharacter_Code_Point}]+/gu, " ")
    .trim();
}

// ── The proof file in the file that the reader has ──

/** The proof file's bytes. Of several attachments it is the one with this digest, if there is one. */
async function proofFileIn(file, digest) {
  const found = await candidates(file);
  if (!found.length) throw new NoProof();
  for (const each of found) {
    if (toHex(await sha256(each)) === digest) return each;
  }
  return found[0];
}

async function candidates(file) {
  const text = new TextDecoder().decode(file);
  if (kindOf(text) === "pdf") return attachments(file);
  if (kindOf(text) === "proof") return [file];
  // Base64 in a JSON string holds no markup, so that the document need not be parsed.
  const element = /<script\b[^>]*\bid="proof"[^>]*>([^<]*)<\/script>/.exec(text);
  const proof = element && (await attempt(() => fromBase64(JSON.parse(element[1]))));
  return proof ? [proof] : [];
}

function kindOf(text) {
  if (text.startsWith("%PDF-")) return "pdf";
  return text.trimStart().startsWith("{") ? "proof" : "html";
}

/** The files attached to a PDF. Streams stand in it as they are, each between the words `stream` and `endstream`. */
async function attachments(file) {
  const text = new TextDecoder("windows-1252").decode(file); // one character a byte, so positions are those of the file
  const found = [];
  for (const { index } of text.matchAll(/\/EmbeddedFile\b/g)) {
    const begin = /stream\r?\n/g;
    begin.lastIndex = index;
    if (!begin.test(text)) break;
    found.push(await inflated(file, begin.lastIndex, text.indexOf("endstream", begin.lastIndex)));
  }
  return found.filter(Boolean);
}

/**
 * A zlib stream that ends at `end`, or before the line break there. Which of the two cannot be told from the outside,
 * as its last byte may look like one; but a zlib stream knows where it ends, so one attempt alone succeeds.
 */
async function inflated(file, begin, end) {
  for (const lineBreak of [1, 2, 0]) {
    const stream = new Blob([file.subarray(begin, end - lineBreak)]).stream();
    const inflating = new Response(stream.pipeThrough(new DecompressionStream("deflate")));
    const found = await attempt(() => inflating.arrayBuffer());
    if (found) return new Uint8Array(found);
  }
  return null;
}

// ── Bytes ──

const toBytes = (text) => new TextEncoder().encode(text);
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const half = (number) => Math.floor(number / 2);

/** The 32 bytes of a hash or a salt. */
function fromHex(text) {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new TypeError("not 32 bytes in hex");
  return Uint8Array.from(text.match(/../g), (byte) => parseInt(byte, 16));
}

function concatenated(...parts) {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

async function sha256(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", concatenated(...parts)));
}
