// No picture opens empty: every painter shows faintly what is to come, along its axis or in an area of its own.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

const FOLDER = new URL("../../assets/player/painters/", import.meta.url);

for (const name of readdirSync(FOLDER)) {
  test(`${name} shows the run to come before the first step`, async () => {
    const foretells = readFileSync(new URL(name, FOLDER), "utf8").includes("foretells: true");
    const { ghostArea } = await import(new URL(name, FOLDER));
    assert.ok(foretells !== (typeof ghostArea === "function"), "either along the axis or in an area");
  });
}
