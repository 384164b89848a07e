#!/usr/bin/env node
require("../.medusa/server/src/cli/main.js");
