// Checks the page's model of the devices after messages of the stream, without a server. Evaluates to a function of the
// folder with the page's scripts, which returns a list of flaws.
async (folder) => {
  const { bench, isKnown, now, past, take, takeDevices } = await import(`${folder}bench.js`);
  const flaws = [];
  const is = (what, found, expected) => {
    if (JSON.stringify(found) !== JSON.stringify(expected)) flaws.push(`model: ${what}: ${JSON.stringify(found)}`);
  };
  let number = 100;
  const time = (later = 0) => new Date(Date.now() + later).toISOString();
  const state = (value, link = "up") => ({ link, values: { state: value }, ages_s: { state: value === null ? null : 0 }, sensor_faults: [], last_change: null });
  const row = (value, link) => ({ name: "pump", family: "pump", state: value === undefined ? null : state(value, link) });
  const send = (kind, data, own = ++number) => take({ number: `${own}`, kind, data });
  const pump = () => bench.devices.pump;
  const shown = () => (isKnown(pump()) ? pump().values.state?.value : "unknown");

  send("tick", { time: time() });
  is("a tab that joins takes nothing before it knows what came before", bench.number, null);
  send("snapshot", { daemon: "up", devices: [row()], time: time() });
  is("a device without a state is unknown", [bench.number, isKnown(pump())], [`${number}`, false]);
  send("state", { device: "pump", time: time(), ...state("on") });
  is("a state is known", shown(), "on");

  const { answered, askedInVain, noteRunning, remembered, troubleOf } = await import(`${folder}values.js`);
  bench.families = { pump: { stop: "off", state: [{ key: "state", label: "pump" }, { key: "error", label: "error", type: "choice" }], commands: [],
    errors: [{ code: "OVERHEAT", meaning: "too hot", unsolicited: true }, { code: "RANGE", meaning: "out of range", unsolicited: false }] } };
  const trouble = () => {
    noteRunning();
    return troubleOf("pump").replace(/\d+:\d+:\d+/, "T");
  };
  is("a pump that was just read to be on is no trouble", trouble(), "");
  send("state", { device: "pump", time: time(), ...state("on"), ages_s: { state: 20 } });
  is("a running pump that says nothing for 15 s is a trouble", trouble(), "it may be on; no answer since T");
  send("state", { device: "pump", time: time(), ...state("off") });
  is("a pump that was read to be off is no trouble", trouble(), "");
  for (const [error, expected] of [["RANGE", ""], ["OVERHEAT", "too hot"]]) {
    send("state", { device: "pump", time: time(), ...state("off"), values: { state: "off", error } });
    is(`the trouble of a device that has said ${error}`, trouble(), expected);
  }
  send("state", { device: "pump", time: time(), ...state("off"), values: { state: "off", error: null } });
  const last_change = { command: "on", by: "x", time: time(-1000), outcome: "unknown" };
  send("state", { device: "pump", time: time(), ...state("off"), ages_s: { state: 5 }, last_change });
  is("a state from before a command says nothing of its effect", trouble(), "it may be on; no answer to on of T");
  send("state", { device: "pump", time: time(), ...state("off"), last_change });
  is("a state that was read after a command shows its effect", trouble(), "");
  send("state", { device: "pump", time: time(), ...state("on") });
  trouble();
  send("state", { device: "pump", time: time(), ...state(null) });
  is("a state that is unknown for a moment, as between OFF and its confirmation, is no trouble", trouble(), "");
  send("state", { device: "pump", time: time(), ...state("off"), ages_s: { state: 5 } });
  askedInVain("pump", "on");
  is("a pump that may have been switched on by a command without an answer is a trouble", trouble(), "it may be on; no answer to on of T");
  send("link", { device: "pump", link: "lost", time: time() });
  is("it stays one while the pump is lost", trouble(), "it may be on; no answer to on of T");
  send("state", { device: "pump", time: time(), ...state("off"), ages_s: { state: 5 } });
  is("a state from before the command does not end that", trouble(), "it may be on; no answer to on of T");
  send("state", { device: "pump", time: time(1), ...state("off") });
  is("a state from after it does", trouble(), "");
  askedInVain("pump", "off", false);
  send("link", { device: "pump", link: "lost", time: time() });
  is("a stop that was not sent did not reach the pump", trouble(), "it may be on; off of T did not reach it");
  send("state", { device: "pump", time: time(2), ...state("on") });
  is("a pump that is on after a stop that was not confirmed is a trouble", trouble(), "it is on; off of T was not confirmed");
  answered({ name: "pump", family: "pump" }, "speed");
  is("another speed does not end that", trouble(), "it is on; off of T was not confirmed");
  send("state", { device: "pump", time: time(3), ...state("off") });
  is("it is over when the pump is off", trouble(), "");
  send("state", { device: "pump", time: time(1), ...state("on") });
  trouble();
  bench.hasList = true;
  send("snapshot", { daemon: "up", devices: [{ ...row("off"), name: "other" }], time: time() });
  is("a pump that ran and is no longer configured is a trouble", trouble(), "it may be on; unknown since T; pumpctld does not have it any more");
  send("snapshot", { daemon: "up", devices: [row("on")], time: time() });
  trouble();
  send("link", { device: "pump", link: "lost", time: time() });
  is("a pump that is lost while it runs is a trouble", trouble(), "it may be on; unknown since T");
  send("state", { device: "pump", time: time(), ...state("on") });

  is("what a browser remembers is said in words", remembered().replace(/\d+:\d+:\d+/, "T"), "pump: it may be on; unknown since T.");

  const model = structuredClone(past()[0]);
  send("link", { device: "pump", link: "lost", time: time() });
  is("a lost device is unknown", [shown(), pump().values.state.was], ["unknown", "on"]);
  takeDevices([row("on")], time(1000));
  is("a list that was overtaken by the loss changes nothing", shown(), "unknown");
  take(model);
  is("the model of a tab that was frozen changes nothing", shown(), "unknown");
  send("state", { device: "pump", time: time(), ...state("on") }, number - 1);
  is("an old message changes nothing", shown(), "unknown");
  send("link", { device: "pump", link: "up", time: time() });
  is("a value from before the loss is not shown", shown(), null);

  send("state", { device: "pump", time: time(), ...state("off") });
  send("daemon", { daemon: "away" });
  is("without pumpctld, nothing is known", shown(), "unknown");
  send("resync", { daemon: "away", devices: [], time: time() });
  is("a device stays while pumpctld is away", Boolean(pump()), true);
  send("daemon", { daemon: "up" });
  is("a value from before pumpctld was away is not shown", shown(), "unknown");

  send("state", { device: "pump", time: time(), ...state("on") });
  send("state", { device: "pump", time: time(), ...state(null) });
  send("link", { device: "pump", link: "lost", time: time() });
  is("a value that the device did not tell at last is not what was known before the loss", pump().values.state.was, undefined);

  send("state", { device: "pump", time: time(), ...state("on") });
  send("tick", { time: time(-1) });
  is("a step back of a millisecond is none", Math.abs(now() - Date.now()) < 1000, true);
  send("tick", { time: time(-3_600_000) });
  const age = now() - pump().values.state.read;
  is("ages stay when the server's clock is set back", [age > -1000 && age < 60_000, shown()], [true, "on"]);

  const before = bench.number;
  try { send("state", { device: "pump", time: time() }); } catch { /* As it must. */ }
  is("a message that can't be taken is not counted", bench.number, before);

  const { hear } = await import(`${folder}calls.js`);
  const { say } = await import(`${folder}elements.js`);
  const { messages } = await import(`${folder}messages.js`);
  const said = [];
  const node = document.getElementById("alarms");
  const isSaid = new Promise((resolve) => new MutationObserver(() => {
    if (node.textContent) said.push(node.textContent);
    if (said.at(-1) === "the last one") resolve();
  }).observe(node, { childList: true, subtree: true }));
  say("pump: stopped for safety", true);
  for (let count = 1; count <= 20; count += 1) say(`pump: error ${count}`, true, "pump ERROR");
  const call = (digit) => JSON.stringify({
    id: `0000000${digit}-0000-4000-8000-000000000000`, content: "", latitude: digit, longitude: 0, timestamp: 0, status: "synced", category: "SOS",
  });
  for (let digit = 1; digit <= 8; digit += 1) hear({ event: "said", device: "new", line: call(digit) });
  hear({ event: "said", device: "pump", line: call(9) });
  is("calls of a device that is not known yet count, and those of a pump don't", messages.list.length, 8);
  say("the last one", true);
  await isSaid;
  is("many alarms keep none from being said", said, ["pump: stopped for safety", "pump: error 20",
    "SOS received: someone needs help at 8.00000° N, 0.00000° E; 7 more", "the last one"]);
  return flaws;
}
