// "Copy link": the address of this page with the moment at which the reader stands.

export function linkTo(number) {
  const link = new URL(location.href);
  link.searchParams.set("step", number);
  return link.href;
}

// Outside https and localhost the clipboard is closed to us; the old command still works in most browsers.
export async function copyText(text, place, label) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = offerText(text, place, label);
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}

export function offerText(text, place, label) {
  const field = Object.assign(document.createElement("input"), { value: text, readOnly: true });
  field.setAttribute("aria-label", label);
  place.append(" ", field);
  field.select();
  return field;
}
