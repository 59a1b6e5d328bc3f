// Plays a run back from a file of its own, without the explorer.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const make = (tag, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (name) node.className = name;
    return node;
  };
  const say = (value) => (value === null ? "—" : value === true ? "yes" : value === false ? "no" : String(value));
  function tree(value) {
    const list = make("ul");
    for (const [key, part] of Object.entries(value)) {
      const item = make("li");
      const name = part && typeof part === "object" ? (part.name ?? part.call ?? (part.incarnation ? `incarnation ${part.incarnation}` : key)) : key;
      item.append(make("span", name, "key"));
      if (part && typeof part === "object") item.append(Object.keys(part).length ? tree(part) : make("span", " none", "quiet"));
      else item.append(make("span", ` ${say(part)}`, "val"));
      list.append(item);
    }
    return list;
  }
  const at = (id) => document.getElementById(id);
  const picture = document.querySelector("svg");
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  mark.setAttribute("class", "current");
  mark.setAttribute("width", picture.viewBox.baseVal.width);
  mark.setAttribute("height", data.row);
  picture.querySelector(".paper").after(mark);
  let now = 0;
  function show(step) {
    now = Math.max(0, Math.min(step, data.states.length - 1));
    mark.setAttribute("y", data.top + now * data.row - data.row / 2);
    const state = data.states[now];
    at("where").textContent = `Step ${now} of ${data.states.length - 1}`;
    at("said").textContent = now ? `${data.events[now - 1].who}: ${data.events[now - 1].text}` : "The beginning";
    at("rules").replaceChildren(...(now ? data.events[now - 1].rules : []).map((rule) => make("li", `${rule.rule}: ${rule.text}`)));
    at("broken").textContent = state.violated.length ? `Violated here: ${state.violated.join(", ")}` : "Nothing is violated here.";
    at("broken").className = state.violated.length ? "bad" : "good";
    at("account").replaceChildren(...state.account.map((line) => make("li", line)));
    at("state").replaceChildren(tree(state.state));
  }
  at("back").onclick = () => show(now - 1);
  at("on").onclick = () => show(now + 1);
  addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") show(now - 1);
    if (event.key === "ArrowRight") show(now + 1);
  });
  picture.addEventListener("click", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    show(Math.round((point.y - data.top) / data.row));
  });
  show(data.states.length - 1);
})();
