// container-apps-schema.mjs PACKAGE: the JSON schema of a Job of Azure Container Apps, from the folder
// of Microsoft's own client (@azure/arm-appcontainers 2.1.0, API 2024-03-01, MIT licence): its mappers
// say what is sent of each class, its models which words a string can be.
import { copyFileSync, readFileSync } from 'node:fs';

const folder = process.argv[2];
copyFileSync(`${folder}/dist-esm/src/models/mappers.js`, `${folder}/mappers.mjs`);
const mappers = await import(`${folder}/mappers.mjs`);
const models = readFileSync(`${folder}/src/models/index.ts`, 'utf8');
const definitions = {};

function words(className, property) {
	const members = models.match(new RegExp(`export interface ${className}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`));
	const type = members?.[1].match(new RegExp(`^  ${property}\\??: (\\w+);`, 'm'));
	const known = type && models.match(new RegExp(`export enum Known${type[1]} \\{([^}]*)\\}`));
	return known && [...known[1].matchAll(/= "([^"]*)"/g)].map(word => word[1]);
}

function schemaOf(type, className, property) {
	const known = words(className, property);
	switch (type.name) {
	case 'String': return known ? { enum: known } : { type: 'string' };
	case 'Number': return { type: 'number' };
	case 'Boolean': return { type: 'boolean' };
	case 'Enum': return { enum: type.allowedValues };
	case 'Sequence': return { type: 'array', items: schemaOf(type.element.type) };
	case 'Dictionary': return { type: 'object', additionalProperties: schemaOf(type.value.type) };
	case 'Composite': return define(type.className);
	default: return {};
	}
}

const object = () => ({ type: 'object', additionalProperties: false, properties: {} });

function define(className) {
	const reference = { $ref: `#/definitions/${className}` };
	if (definitions[className]) return reference;
	definitions[className] = object();
	for (const [property, member] of Object.entries(mappers[className].type.modelProperties)) {
		if (member.readOnly) continue;
		const path = member.serializedName.split('.'), last = path.pop();
		const parent = path.reduce((at, step) => at.properties[step] ??= object(), definitions[className]);
		parent.properties[last] = schemaOf(member.type, className, property);
		if (member.required) (parent.required ??= []).push(last);
	}
	return reference;
}

const root = define('Job');
console.log(JSON.stringify({
	$comment: '@azure/arm-appcontainers 2.1.0, API 2024-03-01; get-container-apps-schema made this',
	...root, definitions,
}, null, 1));
