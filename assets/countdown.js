// Counts down the seconds that the server says are left, and tells it when none is.

const timers = new WeakMap(); // parentElement -> the running timer

export default function countdown({ parentElement, data, setTriggerValue }) {
  clearInterval(timers.get(parentElement));
  const place = parentElement.querySelector(".countdown");
  const end = performance.now() + data.seconds * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    place.textContent = `${data.words} ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (left > 0) return;
    clearInterval(timers.get(parentElement));
    setTriggerValue("over", true);
  };
  timers.set(parentElement, setInterval(tick, 250));
  tick();
  return () => clearInterval(timers.get(parentElement));
}
