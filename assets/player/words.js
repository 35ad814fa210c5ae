// Sentences with blanks: "step {n} of {total}".

export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, blank) => values[blank] ?? "");
}
