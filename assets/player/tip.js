// What stands under the pointer, or at the cursor of the keyboard, told whole.

const GAP = 8; // px between a tip and what it is about

// `spot`: { text, x, y, height } in px of the picture, or null.
export function showTip(player, spot) {
  const { tip, find } = player;
  tip.hidden = !spot;
  if (!spot) return;
  tip.textContent = spot.text;
  const room = find(".stage").clientWidth;
  const left = Math.min(Math.max(spot.x - tip.offsetWidth / 2, 0), Math.max(room - tip.offsetWidth, 0));
  const above = spot.y - GAP - tip.offsetHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${above >= -tip.offsetHeight * 0.6 ? above : spot.y + spot.height + GAP}px`;
}
