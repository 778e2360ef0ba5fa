#!/usr/bin/env bash
# Builds queries/report/vendor/plot.js, the library of a report's Explore panel, with npm and esbuild.
#
#   scripts/explore/build.sh          rebuild it, with its licences and its digest
#   scripts/explore/build.sh --check  fail if a rebuild differs from the files of the clone
#
# package-lock.json has the digest of every package; `npm ci` refuses others. A new version: change package.json, run
# `npm install --package-lock-only --omit-lockfile-registry-resolved` in this folder, then this script.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vendor=$here/../../queries/report/vendor
command -v npm >/dev/null || { echo "npm is required: install Node.js 18 or later" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/{package.json,package-lock.json,plot.js} "$work"
(
  cd "$work"
  npm ci --silent --no-audit --no-fund
  npx esbuild plot.js --bundle --minify --format=iife --global-name=DestagePlot --target=es2020 --charset=utf8 \
    --banner:js="/* Observable Plot 0.6.17 and D3: licences in plot.LICENSES.txt beside this file. */" \
    --metafile=inputs.json --outfile=built.js --log-level=warning
  node - <<'JS' >licences.txt
const fs = require("fs");
const inputs = Object.keys(JSON.parse(fs.readFileSync("inputs.json")).inputs);
const packages = [...new Set(inputs.map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]))];
for (const name of packages.filter(Boolean).sort()) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(fs.readFileSync(`${folder}/package.json`));
  const file = fs.readdirSync(folder).find((one) => /^(licen[cs]e|unlicense)/i.test(one));
  const text = file ? fs.readFileSync(`${folder}/${file}`, "utf8").trim() : "(the package has no licence file)";
  console.log(`${name} ${version} (${license})\n\n${text}\n\n${"-".repeat(80)}\n`);
}
JS
)
(cd "$work" && mv built.js plot.js && mv licences.txt plot.LICENSES.txt && sha256sum plot.js >plot.js.sha256)
if [ "${1:-}" = --check ]; then
  for file in plot.js plot.LICENSES.txt plot.js.sha256; do
    cmp "$work/$file" "$vendor/$file"
  done
else
  mkdir -p "$vendor"
  cp "$work"/plot.{js,LICENSES.txt,js.sha256} "$vendor"
fi
