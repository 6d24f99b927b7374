// Keeps the files of the page, so that it opens while the server is away. No answer of the interface is ever kept.

const version = location.pathname.split("/")[2];

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(version).then((cache) => cache.add("/")));
});

addEventListener("activate", (event) => {
  event.waitUntil(caches.keys().then((names) =>
    Promise.all(names.filter((name) => name !== version).map((name) => caches.delete(name)))));
});

addEventListener("fetch", (event) => {
  const path = new URL(event.request.url).pathname;
  if (event.request.method !== "GET") return;
  // The page itself comes from the server if that answers: it names the version of the other files.
  if (path === "/") event.respondWith(fetch(event.request).catch(() => kept("/")));
  else if (path.startsWith(`/page/${version}/`)) event.respondWith(file(event.request));
});

const kept = (path) => caches.open(version).then((cache) => cache.match(path)).then((found) => found ?? Response.error());

async function file(request) {
  const cache = await caches.open(version);
  const found = await cache.match(request);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clients.matchAll({ type: "window" }).then(([first]) => (first ? first.focus() : clients.openWindow("/"))));
});
