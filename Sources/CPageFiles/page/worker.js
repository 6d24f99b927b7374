// Keeps the files of the page, so that it opens while the server is away. No answer of the interface is ever kept.

const version = location.pathname.split("/")[2];

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(keepPage());
});

addEventListener("activate", (event) => {
  event.waitUntil(caches.keys().then((names) =>
    Promise.all(names.filter((name) => name !== version).map((name) => caches.delete(name)))).then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const path = new URL(event.request.url).pathname;
  if (event.request.method !== "GET") return;
  // The page itself comes from the server if that answers: it names the version of the other files.
  if (path === "/") event.respondWith(page(event.request));
  // A store that fails must not keep the page from loading.
  else if (path.startsWith(`/page/${version}/`)) event.respondWith(file(event.request).catch(() => fetch(event.request)));
});

/** Keeps the page if it is the one that belongs to this version. */
async function keepPage() {
  const response = await fetch("/");
  const isOwn = response.ok && !response.redirected && (await response.clone().text()).includes(`/page/${version}/`);
  if (isOwn) await (await caches.open(version)).put("/", response);
}

async function page(request) {
  const kept = await caches.open(version).then((cache) => cache.match("/")).catch(() => undefined);
  try {
    const response = await fetch(request, kept && { signal: AbortSignal.timeout(5000) });
    // A reverse proxy answers for a server that is away.
    return kept && [502, 503, 504].includes(response.status) ? kept : response;
  } catch {
    return kept ?? Response.error();
  }
}

async function file(request) {
  const cache = await caches.open(version);
  const found = await cache.match(request);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) cache.put(request, response.clone()).catch(() => {});
  return response;
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clients.matchAll({ type: "window" }).then(([first]) => (first ? first.focus() : clients.openWindow("/"))));
});
