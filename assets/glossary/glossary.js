// Shows what a term means, or where a number comes from: on hover, on focus, on tap.  Both are links anywhere in the
// page, to #term-<id> and #source-<id>; the address of the page is never touched.  One card, listeners on the document,
// so they may come and go.  The card of a source leads on to it; Enter goes there, Escape back.

const TERM = 'a:is([href^="#term-"], [href^="#source-"])';
const HOVER_MS = 120; // a pointer only passing by opens nothing
const LEAVE_MS = 200; // time to move from the term into the card
const GAP = 6; // px between term and card

const mounted = new WeakMap(); // parentElement -> what the last run started

export default function glossary({ parentElement, data }) {
  mounted.get(parentElement)?.abort();
  const life = new AbortController();
  mounted.set(parentElement, life);

  const root = parentElement.querySelector('.glossary');
  const card = root.querySelector('.glossary-card');
  const address = card.querySelector('.glossary-address');
  address.textContent = data.open;
  let open = null; // the term whose card is shown
  let pinned = false; // by tap or Enter: leaving with the pointer does not close it
  let timer = 0;

  const termAt = target => (target instanceof Element ? target.closest(TERM) : null);
  const idOf = term => decodeURIComponent(term.getAttribute('href').slice(1));

  function show(term) {
    const words = data.words[idOf(term)];
    if (!words) return;
    if (open && open !== term) hide();
    card.querySelector('.glossary-name').textContent = words[0];
    card.querySelector('.glossary-definition').textContent = words[1];
    address.hidden = !words[2];
    if (words[2]) address.href = words[2];
    if (!card.matches(':popover-open')) card.showPopover();
    open = term;
    term.classList.add('glossary-open');
    place(term);
  }

  function hide() {
    clearTimeout(timer);
    open?.classList.remove('glossary-open');
    if (card.matches(':popover-open')) card.hidePopover();
    open = null;
    pinned = false;
  }

  function place(term) {
    const at = term.getClientRects()[0];
    if (!at) return hide();
    const { width, height } = card.getBoundingClientRect();
    const left = Math.min(Math.max(at.left, 12), innerWidth - width - 12);
    const below = at.bottom + GAP + height <= innerHeight;
    const top = below ? at.bottom + GAP : Math.max(at.top - GAP - height, 8);
    card.style.left = `${left}px`;
    card.style.top = `${top}px`;
  }

  function soon(action, delay) {
    clearTimeout(timer);
    timer = setTimeout(action, delay);
  }

  function on(event, action, options = {}) {
    document.addEventListener(event, action, { ...options, signal: life.signal });
  }

  on('pointerover', event => {
    if (event.pointerType !== 'mouse') return; // a finger taps
    const term = termAt(event.target);
    if (term) soon(() => show(term), HOVER_MS);
    else if (card.contains(event.target)) clearTimeout(timer);
  });
  on('pointerout', event => {
    if (event.pointerType !== 'mouse' || pinned) return;
    const from = termAt(event.target) || (card.contains(event.target) && card);
    if (from && !from.contains(event.relatedTarget)) soon(hide, LEAVE_MS);
  });
  on('focusin', event => {
    const term = termAt(event.target);
    if (term?.matches(':focus-visible')) show(term);
  });
  on('focusout', event => {
    if (termAt(event.target) && !pinned) hide();
  });
  on('click', event => {
    const term = termAt(event.target);
    if (term) {
      event.preventDefault(); // the address stays as it is
      event.stopPropagation();
      if (open === term && pinned) return hide();
      show(term);
      pinned = true;
      if (event.detail === 0 && !address.hidden) address.focus(); // by Enter
    } else if (open && !card.contains(event.target)) {
      hide();
    }
  }, { capture: true });
  on('keydown', event => {
    if (event.key !== 'Escape' || !open) return;
    event.stopPropagation();
    if (card.contains(document.activeElement)) open.focus();
    hide();
  }, { capture: true });
  on('scroll', () => open && place(open), { capture: true, passive: true });

  // Screen readers get the definition as the description of the link, without opening anything.
  const definitions = root.querySelector('.glossary-definitions');
  function describe() {
    for (const term of document.querySelectorAll(TERM)) {
      const id = idOf(term), at = `glossary-definition-${id}`;
      if (!data.words[id] || term.getAttribute('aria-describedby') === at) continue;
      term.setAttribute('aria-describedby', at);
      term.removeAttribute('target');
    }
  }
  definitions.replaceChildren(...Object.entries(data.words).map(([id, [, definition]]) => {
    const line = document.createElement('span');
    line.id = `glossary-definition-${id}`;
    line.textContent = definition;
    return line;
  }));
  describe();
  let pending = 0;
  const watcher = new MutationObserver(() => {
    clearTimeout(pending);
    pending = setTimeout(describe, 150);
  });
  watcher.observe(document.body, { childList: true, subtree: true });
  life.signal.addEventListener('abort', () => {
    watcher.disconnect();
    clearTimeout(pending);
    hide();
  });

  root.dataset.ready = 'true';
  return () => life.abort();
}
