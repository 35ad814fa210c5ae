// Where a player stands: its data come here, again and again; its code came once, and may be on its way still.

export default function (component) {
  let leave = () => {};
  const draw = () => (leave = globalThis.stepPlayer(component));
  if (globalThis.stepPlayer) draw();
  else addEventListener("step-player", draw, { once: true });
  return () => {
    removeEventListener("step-player", draw);
    leave();
  };
}
