// The search of the site in FOLDER as its pages run it: prints the pages that a query finds, the best first.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, query] = process.argv.slice(2);
const workers = path.join(folder, "assets", "javascripts", "workers");
const name = fs.readdirSync(workers).find((file) => /^search\..*\.js$/.test(file));
const index = JSON.parse(fs.readFileSync(path.join(folder, "search", "search_index.json"), "utf8"));

let listener;
let replied;
const worker = {
  console,
  addEventListener: (_, added) => (listener = added),
  postMessage: (message) => replied(message),
};
worker.self = worker;
vm.runInNewContext(fs.readFileSync(path.join(workers, name), "utf8"), worker);

function send(type, data) {
  return new Promise((resolve) => {
    replied = resolve;
    listener({ data: { type, data } });
  });
}

async function main() {
  await send(0, { ...index, options: { suggest: true } });
  const { data } = await send(2, query);
  console.log(JSON.stringify(data.items.map(([best]) => best.location.split("#")[0])));
}

main();
