// validate.js FILE...: what Khronos' glTF validator says, one line per file: "ERRORS WARNINGS INFOS FILE", with the
// errors below it. One start of node serves all files. Exit 0: told everything, however bad; 69: no validator here.
//
// The validator is in build/validator of this checkout (tools/setup.sh validate puts it there), or where NODE_PATH says.

'use strict';

const fs = require('fs');
const path = require('path');

function loadValidator() {
    for (const name of [path.join(__dirname, '../build/validator/node_modules/gltf-validator'), 'gltf-validator']) {
        try {
            return require(name);
        } catch (error) {
            if (error.code !== 'MODULE_NOT_FOUND')
                throw error;
        }
    }
    console.error('validate: there is no gltf-validator here\n  try: tools/setup.sh validate');
    process.exit(69);
}

async function validate(validator, file) {
    const beside = uri => fs.promises.readFile(path.join(path.dirname(file), decodeURIComponent(uri)))
        .then(data => new Uint8Array(data));
    const options = {uri: path.basename(file), maxIssues: 0, externalResourceFunction: beside};
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), options);
    const {numErrors, numWarnings, numInfos, messages} = report.issues;
    console.log(`${numErrors} ${numWarnings} ${numInfos} ${file}`);
    for (const issue of messages.filter(message => message.severity === 0).slice(0, 10))
        console.log(`    ${issue.code} ${issue.pointer}: ${issue.message}`);
}

async function main() {
    const validator = loadValidator();
    for (const file of process.argv.slice(2)) {
        try {
            await validate(validator, file);
        } catch (error) { // not glTF at all, or not there
            console.log(`1 0 0 ${file}\n    ${error.message || error}`);
        }
    }
}

main();
