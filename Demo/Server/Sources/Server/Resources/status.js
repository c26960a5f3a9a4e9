"use strict";
const element = id => document.getElementById(id);
const text = (id, value) => { element(id).textContent = value; };
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const time = date => new Date(date).toLocaleTimeString([], clock);
const number = value => Number(value).toLocaleString();

function row(cells, className) {
  const row = document.createElement("tr");
  if (className) row.className = className;
  for (const cell of cells) {
    const column = document.createElement("td");
    column.textContent = cell.text ?? cell;
    if (cell.className) column.className = cell.className;
    if (cell.span) column.colSpan = cell.span;
    row.append(column);
  }
  return row;
}

// The changes on the page; null before the first.
let shown = null;

const states = {
  waiting: ["Up to date", "good"], syncing: ["Syncing", "busy"], requestingLease: ["Requesting the lease", "wait"],
  standingBy: ["Standing by", "wait"], releasingLease: ["Stopping", "wait"],
};

function show(status) {
  const health = status.health, activity = health.activity, kind = activity?.kind;
  text("server", `${status.server} mirrors ${status.source}`);
  let [label, tone] = states[kind] ?? ["Not running", "wait"];
  if (kind === "waiting" && health.consecutiveFailures > 0) {
    const count = health.consecutiveFailures;
    [label, tone] = [count === 1 ? "The last sync failed" : `${count} syncs failed in a row`, "bad"];
  }
  text("state", label);
  element("state").className = `state ${tone}`;
  document.body.dataset.state = kind ?? "stopped";
  const holder = activity?.leaseHolder;
  const details = [];
  if (holder) details.push(`The lease is held by ${holder.program} on ${holder.host}, process ${holder.processID}, since ${time(holder.since)}.`);
  else if (kind === "waiting" || kind === "syncing") details.push("This server holds the lease.");
  if (health.lastSuccess) details.push(`Last success at ${time(health.lastSuccess)}.`);
  if (health.nextRun) details.push(`Next sync at ${time(health.nextRun)}.`);
  text("detail", details.join(" "));

  const progress = status.progress;
  element("progress").hidden = !progress;
  if (progress) {
    const total = progress.totalElementCount;
    const share = total ? Math.min(100, 100 * progress.elementCount / total) : 0;
    element("progress").querySelector(".bar > div").style.width = `${share}%`;
    element("progress").querySelector(".bar").setAttribute("aria-valuenow", Math.round(share));
    const phase = progress.readingNumber > 1 ? `Verifying, reading ${progress.readingNumber}` : "Reading";
    text("progress-text", `${phase}: ${number(progress.elementCount)}${total ? ` of ${number(total)}` : ""} users`);
  }

  element("counts").replaceChildren(...Object.entries(status.counts).sort((a, b) => b[1] - a[1]).map(([name, count]) => {
    const box = document.createElement("div"), value = document.createElement("b"), label = document.createElement("span");
    value.textContent = number(count);
    label.textContent = name;
    label.className = "faint small";
    box.append(value, label);
    return box;
  }));

  element("failure").hidden = !(health.consecutiveFailures > 0);
  if (health.lastError) text("failure-text", health.lastError.message ?? health.lastError.description ?? JSON.stringify(health.lastError));
  if (health.lastFailure) text("failure-time", `at ${time(health.lastFailure)}`);

  const drift = [...(health.lastReport?.drift ?? []), ...(health.lastReport?.warnings ?? [])];
  element("drift").hidden = drift.length === 0;
  element("drift-list").replaceChildren(...drift.map(sentence => {
    const item = document.createElement("li");
    item.textContent = sentence;
    return item;
  }));

  element("syncs").hidden = status.passes.length === 0;
  element("passes").replaceChildren(...status.passes.flatMap(pass => {
    const failed = pass.status === "failed";
    const rows = [row([
      time(pass.started), number(pass.inserted), number(pass.updated), number(pass.deleted),
      { text: `${pass.seconds.toFixed(2)} s`, className: "wide" }, { text: pass.status, className: failed ? "bad" : "good" },
    ])];
    if (pass.error) rows.push(row([{ text: pass.error, className: "faint small", span: 6 }], "detail"));
    return rows;
  }));

  element("users").hidden = status.latest.length === 0;
  const marks = status.latest.map(user => `${user.id} ${user.updatedAt}`);
  // Only if they differ, so that the marks of new rows fade undisturbed.
  if (marks.join() !== shown?.join()) {
    element("changes").replaceChildren(...status.latest.map((user, index) => row([
      user.updatedAt ? time(user.updatedAt) : "", user.name, { text: user.role ?? "", className: "wide" },
      { text: user.company?.name ?? "", className: "wide" },
    ], shown && !shown.includes(marks[index]) ? "new" : "")));
    shown = marks;
  }
}

const token = new URLSearchParams(location.hash.slice(1)).get("token");
element("actions").hidden = !token;
for (const button of document.querySelectorAll("button[data-post]")) {
  button.addEventListener("click", async () => {
    const answer = await fetch(button.dataset.post, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    text("answer", `${button.textContent}: ${answer.ok ? "done" : answer.status}`);
  });
}

// `EventSource` cannot send the token, so the events are read as a body.
async function follow() {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await fetch("status/events", { headers });
  if (!answer.ok) throw answer.status;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) show(JSON.parse(part.slice("data: ".length)));
  }
}

async function stay() {
  while (true) {
    let reason = "Connection lost, trying again …";
    try {
      await follow();
    } catch (status) {
      if (status === 401) reason = "Open the address that the server printed: it contains the token";
    }
    text("state", reason);
    element("state").className = "state bad";
    document.body.dataset.state = "disconnected";
    await new Promise(resolve => setTimeout(resolve, 1000));
  }
}

stay();
