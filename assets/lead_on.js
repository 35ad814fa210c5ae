// Instead of this page: another one.  In the browser's history it takes this page's place, so that Back does not come here
// again.

export default function leadOn({ data }) {
  const url = new URL(data.path, location.href);
  url.search = new URLSearchParams(data.query);
  history.replaceState({}, "", url);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}
