import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);

// test/engines/redis/shards/real-shard-scripts.test.ts
import { spawn as spawn2, spawnSync as spawnSync2 } from "node:child_process";
import { existsSync as existsSync3, mkdirSync as mkdirSync3, mkdtempSync as mkdtempSync2, rmSync as rmSync2, writeFileSync as writeFileSync2 } from "node:fs";
import { tmpdir as tmpdir2 } from "node:os";
import { delimiter as delimiter2, join as join4 } from "node:path";

// ../../main/node_modules/chai/index.js
var __defProp = Object.defineProperty;
var __defNormalProp = (obj, key, value) => key in obj ? __defProp(obj, key, { enumerable: true, configurable: true, writable: true, value }) : obj[key] = value;
var __name = (target, value) => __defProp(target, "name", { value, configurable: true });
var __export = (target, all2) => {
  for (var name in all2)
    __defProp(target, name, { get: all2[name], enumerable: true });
};
var __publicField = (obj, key, value) => __defNormalProp(obj, typeof key !== "symbol" ? key + "" : key, value);
var utils_exports = {};
__export(utils_exports, {
  addChainableMethod: () => addChainableMethod,
  addLengthGuard: () => addLengthGuard,
  addMethod: () => addMethod,
  addProperty: () => addProperty,
  checkError: () => check_error_exports,
  compareByInspect: () => compareByInspect,
  eql: () => deep_eql_default,
  events: () => events,
  expectTypes: () => expectTypes,
  flag: () => flag,
  getActual: () => getActual,
  getMessage: () => getMessage2,
  getName: () => getName,
  getOperator: () => getOperator,
  getOwnEnumerableProperties: () => getOwnEnumerableProperties,
  getOwnEnumerablePropertySymbols: () => getOwnEnumerablePropertySymbols,
  getPathInfo: () => getPathInfo,
  hasProperty: () => hasProperty,
  inspect: () => inspect2,
  isNaN: () => isNaN2,
  isNumeric: () => isNumeric,
  isProxyEnabled: () => isProxyEnabled,
  isRegExp: () => isRegExp2,
  objDisplay: () => objDisplay,
  overwriteChainableMethod: () => overwriteChainableMethod,
  overwriteMethod: () => overwriteMethod,
  overwriteProperty: () => overwriteProperty,
  proxify: () => proxify,
  test: () => test,
  transferFlags: () => transferFlags,
  type: () => type
});
var check_error_exports = {};
__export(check_error_exports, {
  compatibleConstructor: () => compatibleConstructor,
  compatibleInstance: () => compatibleInstance,
  compatibleMessage: () => compatibleMessage,
  getConstructorName: () => getConstructorName,
  getMessage: () => getMessage
});
function isErrorInstance(obj) {
  return obj instanceof Error || Object.prototype.toString.call(obj) === "[object Error]";
}
__name(isErrorInstance, "isErrorInstance");
function isRegExp(obj) {
  return Object.prototype.toString.call(obj) === "[object RegExp]";
}
__name(isRegExp, "isRegExp");
function compatibleInstance(thrown, errorLike) {
  return isErrorInstance(errorLike) && thrown === errorLike;
}
__name(compatibleInstance, "compatibleInstance");
function compatibleConstructor(thrown, errorLike) {
  if (isErrorInstance(errorLike)) {
    return thrown.constructor === errorLike.constructor || thrown instanceof errorLike.constructor;
  } else if ((typeof errorLike === "object" || typeof errorLike === "function") && errorLike.prototype) {
    return thrown.constructor === errorLike || thrown instanceof errorLike;
  }
  return false;
}
__name(compatibleConstructor, "compatibleConstructor");
function compatibleMessage(thrown, errMatcher) {
  const comparisonString = typeof thrown === "string" ? thrown : thrown.message;
  if (comparisonString === void 0) {
    return false;
  }
  if (isRegExp(errMatcher)) {
    return errMatcher.test(comparisonString);
  } else if (typeof errMatcher === "string") {
    return comparisonString.indexOf(errMatcher) !== -1;
  }
  return false;
}
__name(compatibleMessage, "compatibleMessage");
function getConstructorName(errorLike) {
  let constructorName = errorLike;
  if (isErrorInstance(errorLike)) {
    constructorName = errorLike.constructor.name;
  } else if (typeof errorLike === "function") {
    constructorName = errorLike.name;
    if (constructorName === "") {
      const newConstructorName = new errorLike().name;
      constructorName = newConstructorName || constructorName;
    }
  }
  return constructorName;
}
__name(getConstructorName, "getConstructorName");
function getMessage(errorLike) {
  let msg = "";
  if (errorLike && errorLike.message) {
    msg = errorLike.message;
  } else if (typeof errorLike === "string") {
    msg = errorLike;
  }
  return msg;
}
__name(getMessage, "getMessage");
function flag(obj, key, value) {
  let flags = obj.__flags || (obj.__flags = /* @__PURE__ */ Object.create(null));
  if (arguments.length === 3) {
    flags[key] = value;
  } else {
    return flags[key];
  }
}
__name(flag, "flag");
function test(obj, args) {
  let negate = flag(obj, "negate"), expr = args[0];
  return negate ? !expr : expr;
}
__name(test, "test");
function type(obj) {
  if (typeof obj === "undefined") {
    return "undefined";
  }
  if (obj === null) {
    return "null";
  }
  const stringTag = (
    /** @type {Record<PropertyKey, unknown>} */
    obj[Symbol.toStringTag]
  );
  if (typeof stringTag === "string") {
    return stringTag;
  }
  const type3 = Object.prototype.toString.call(obj).slice(8, -1);
  return type3;
}
__name(type, "type");
var canElideFrames = "captureStackTrace" in Error;
var _AssertionError = class _AssertionError2 extends Error {
  constructor(message = "Unspecified AssertionError", props, ssf) {
    super(message);
    __publicField(this, "message");
    this.message = message;
    if (canElideFrames) {
      Error.captureStackTrace(this, ssf || _AssertionError2);
    }
    for (const key in props) {
      if (!(key in this)) {
        this[key] = props[key];
      }
    }
  }
  get name() {
    return "AssertionError";
  }
  get ok() {
    return false;
  }
  toJSON(stack2) {
    return {
      ...this,
      name: this.name,
      message: this.message,
      ok: false,
      stack: stack2 !== false ? this.stack : void 0
    };
  }
};
__name(_AssertionError, "AssertionError");
var AssertionError = _AssertionError;
function expectTypes(obj, types) {
  let flagMsg = flag(obj, "message");
  let ssfi = (
    /** @type {Function} */
    flag(obj, "ssfi")
  );
  flagMsg = flagMsg ? flagMsg + ": " : "";
  obj = /** @type {object} */
  flag(obj, "object");
  types = types.map(function(t2) {
    return t2.toLowerCase();
  });
  types.sort();
  let str = types.map(function(t2, index2) {
    let art = ~["a", "e", "i", "o", "u"].indexOf(t2.charAt(0)) ? "an" : "a";
    let or = types.length > 1 && index2 === types.length - 1 ? "or " : "";
    return or + art + " " + t2;
  }).join(", ");
  let objType = type(obj).toLowerCase();
  if (!types.some(function(expected) {
    return objType === expected;
  })) {
    throw new AssertionError(
      flagMsg + "object tested must be " + str + ", but " + objType + " given",
      void 0,
      ssfi
    );
  }
}
__name(expectTypes, "expectTypes");
function getActual(obj, args) {
  return args.length > 4 ? args[4] : obj._obj;
}
__name(getActual, "getActual");
var ansiColors = {
  bold: ["1", "22"],
  dim: ["2", "22"],
  italic: ["3", "23"],
  underline: ["4", "24"],
  // 5 & 6 are blinking
  inverse: ["7", "27"],
  hidden: ["8", "28"],
  strike: ["9", "29"],
  // 10-20 are fonts
  // 21-29 are resets for 1-9
  black: ["30", "39"],
  red: ["31", "39"],
  green: ["32", "39"],
  yellow: ["33", "39"],
  blue: ["34", "39"],
  magenta: ["35", "39"],
  cyan: ["36", "39"],
  white: ["37", "39"],
  brightblack: ["30;1", "39"],
  brightred: ["31;1", "39"],
  brightgreen: ["32;1", "39"],
  brightyellow: ["33;1", "39"],
  brightblue: ["34;1", "39"],
  brightmagenta: ["35;1", "39"],
  brightcyan: ["36;1", "39"],
  brightwhite: ["37;1", "39"],
  grey: ["90", "39"]
};
var styles = {
  special: "cyan",
  number: "yellow",
  bigint: "yellow",
  boolean: "yellow",
  undefined: "grey",
  null: "bold",
  string: "green",
  symbol: "green",
  date: "magenta",
  regexp: "red"
};
var truncator = "\u2026";
function colorise(value, styleType) {
  const color = ansiColors[styles[styleType]] || ansiColors[styleType] || "";
  if (!color) {
    return String(value);
  }
  return `\x1B[${color[0]}m${String(value)}\x1B[${color[1]}m`;
}
__name(colorise, "colorise");
function normaliseOptions({
  showHidden = false,
  depth = 2,
  colors = false,
  customInspect = true,
  showProxy = false,
  maxArrayLength = Infinity,
  breakLength = Infinity,
  seen = [],
  // eslint-disable-next-line no-shadow
  truncate: truncate2 = Infinity,
  stylize = String
} = {}, inspect3) {
  const options = {
    showHidden: Boolean(showHidden),
    depth: Number(depth),
    colors: Boolean(colors),
    customInspect: Boolean(customInspect),
    showProxy: Boolean(showProxy),
    maxArrayLength: Number(maxArrayLength),
    breakLength: Number(breakLength),
    truncate: Number(truncate2),
    seen,
    inspect: inspect3,
    stylize
  };
  if (options.colors) {
    options.stylize = colorise;
  }
  return options;
}
__name(normaliseOptions, "normaliseOptions");
function isHighSurrogate(char) {
  return char >= "\uD800" && char <= "\uDBFF";
}
__name(isHighSurrogate, "isHighSurrogate");
function truncate(string, length, tail = truncator) {
  string = String(string);
  const tailLength = tail.length;
  const stringLength = string.length;
  if (tailLength > length && stringLength > tailLength) {
    return tail;
  }
  if (stringLength > length && stringLength > tailLength) {
    let end = length - tailLength;
    if (end > 0 && isHighSurrogate(string[end - 1])) {
      end = end - 1;
    }
    return `${string.slice(0, end)}${tail}`;
  }
  return string;
}
__name(truncate, "truncate");
function inspectList(list, options, inspectItem, separator = ", ") {
  inspectItem = inspectItem || options.inspect;
  const size2 = list.length;
  if (size2 === 0)
    return "";
  const originalLength = options.truncate;
  let output = "";
  let peek = "";
  let truncated = "";
  for (let i2 = 0; i2 < size2; i2 += 1) {
    const last = i2 + 1 === list.length;
    const secondToLast = i2 + 2 === list.length;
    truncated = `${truncator}(${list.length - i2})`;
    const value = list[i2];
    options.truncate = originalLength - output.length - (last ? 0 : separator.length);
    const string = peek || inspectItem(value, options) + (last ? "" : separator);
    const nextLength = output.length + string.length;
    const truncatedLength = nextLength + truncated.length;
    if (last && nextLength > originalLength && output.length + truncated.length <= originalLength) {
      break;
    }
    if (!last && !secondToLast && truncatedLength > originalLength) {
      break;
    }
    peek = last ? "" : inspectItem(list[i2 + 1], options) + (secondToLast ? "" : separator);
    if (!last && secondToLast && truncatedLength > originalLength && nextLength + peek.length > originalLength) {
      break;
    }
    output += string;
    if (!last && !secondToLast && nextLength + peek.length >= originalLength) {
      truncated = `${truncator}(${list.length - i2 - 1})`;
      break;
    }
    truncated = "";
  }
  return `${output}${truncated}`;
}
__name(inspectList, "inspectList");
function quoteComplexKey(key) {
  if (key.match(/^[a-zA-Z_][a-zA-Z_0-9]*$/)) {
    return key;
  }
  return JSON.stringify(key).replace(/'/g, "\\'").replace(/\\"/g, '"').replace(/(^"|"$)/g, "'");
}
__name(quoteComplexKey, "quoteComplexKey");
function inspectProperty([key, value], options) {
  options.truncate -= 2;
  if (typeof key === "string") {
    key = quoteComplexKey(key);
  } else if (typeof key !== "number") {
    key = `[${options.inspect(key, options)}]`;
  }
  options.truncate -= key.length;
  value = options.inspect(value, options);
  return `${key}: ${value}`;
}
__name(inspectProperty, "inspectProperty");
function inspectArray(array, options) {
  const nonIndexProperties = Object.keys(array).slice(array.length);
  if (!array.length && !nonIndexProperties.length)
    return "[]";
  options.truncate -= 4;
  const listContents = inspectList(array, options);
  options.truncate -= listContents.length;
  let propertyContents = "";
  if (nonIndexProperties.length) {
    propertyContents = inspectList(nonIndexProperties.map((key) => [key, array[key]]), options, inspectProperty);
  }
  return `[ ${listContents}${propertyContents ? `, ${propertyContents}` : ""} ]`;
}
__name(inspectArray, "inspectArray");
var getArrayName = /* @__PURE__ */ __name((array) => {
  if (typeof Buffer === "function" && array instanceof Buffer) {
    return "Buffer";
  }
  if (array[Symbol.toStringTag]) {
    return array[Symbol.toStringTag];
  }
  return array.constructor.name;
}, "getArrayName");
function inspectTypedArray(array, options) {
  const name = getArrayName(array);
  options.truncate -= name.length + 4;
  const nonIndexProperties = Object.keys(array).slice(array.length);
  if (!array.length && !nonIndexProperties.length)
    return `${name}[]`;
  let output = "";
  for (let i2 = 0; i2 < array.length; i2++) {
    const string = `${options.stylize(truncate(array[i2], options.truncate), "number")}${i2 === array.length - 1 ? "" : ", "}`;
    options.truncate -= string.length;
    if (array[i2] !== array.length && options.truncate <= 3) {
      output += `${truncator}(${array.length - array[i2] + 1})`;
      break;
    }
    output += string;
  }
  let propertyContents = "";
  if (nonIndexProperties.length) {
    propertyContents = inspectList(nonIndexProperties.map((key) => [key, array[key]]), options, inspectProperty);
  }
  return `${name}[ ${output}${propertyContents ? `, ${propertyContents}` : ""} ]`;
}
__name(inspectTypedArray, "inspectTypedArray");
function inspectDate(dateObject, options) {
  const stringRepresentation = dateObject.toJSON();
  if (stringRepresentation === null) {
    return "Invalid Date";
  }
  const split = stringRepresentation.split("T");
  const date = split[0];
  return options.stylize(`${date}T${truncate(split[1], options.truncate - date.length - 1)}`, "date");
}
__name(inspectDate, "inspectDate");
function inspectFunction(func, options) {
  const functionType = func[Symbol.toStringTag] || "Function";
  const name = func.name;
  if (!name) {
    return options.stylize(`[${functionType}]`, "special");
  }
  return options.stylize(`[${functionType} ${truncate(name, options.truncate - 11)}]`, "special");
}
__name(inspectFunction, "inspectFunction");
function inspectMapEntry([key, value], options) {
  options.truncate -= 4;
  key = options.inspect(key, options);
  options.truncate -= key.length;
  value = options.inspect(value, options);
  return `${key} => ${value}`;
}
__name(inspectMapEntry, "inspectMapEntry");
function mapToEntries(map) {
  const entries = [];
  map.forEach((value, key) => {
    entries.push([key, value]);
  });
  return entries;
}
__name(mapToEntries, "mapToEntries");
function inspectMap(map, options) {
  if (map.size === 0)
    return "Map{}";
  options.truncate -= 7;
  return `Map{ ${inspectList(mapToEntries(map), options, inspectMapEntry)} }`;
}
__name(inspectMap, "inspectMap");
var isNaN = Number.isNaN || ((i2) => i2 !== i2);
function inspectNumber(number, options) {
  if (isNaN(number)) {
    return options.stylize("NaN", "number");
  }
  if (number === Infinity) {
    return options.stylize("Infinity", "number");
  }
  if (number === -Infinity) {
    return options.stylize("-Infinity", "number");
  }
  if (number === 0) {
    return options.stylize(1 / number === Infinity ? "+0" : "-0", "number");
  }
  return options.stylize(truncate(String(number), options.truncate), "number");
}
__name(inspectNumber, "inspectNumber");
function inspectBigInt(number, options) {
  let nums = truncate(number.toString(), options.truncate - 1);
  if (nums !== truncator)
    nums += "n";
  return options.stylize(nums, "bigint");
}
__name(inspectBigInt, "inspectBigInt");
function inspectRegExp(value, options) {
  const flags = value.toString().split("/")[2];
  const sourceLength = options.truncate - (2 + flags.length);
  const source = value.source;
  return options.stylize(`/${truncate(source, sourceLength)}/${flags}`, "regexp");
}
__name(inspectRegExp, "inspectRegExp");
function arrayFromSet(set2) {
  const values = [];
  set2.forEach((value) => {
    values.push(value);
  });
  return values;
}
__name(arrayFromSet, "arrayFromSet");
function inspectSet(set2, options) {
  if (set2.size === 0)
    return "Set{}";
  options.truncate -= 7;
  return `Set{ ${inspectList(arrayFromSet(set2), options)} }`;
}
__name(inspectSet, "inspectSet");
var stringEscapeChars = new RegExp("['\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0604\\u070f\\u17b4\\u17b5\\u200c-\\u200f\\u2028-\\u202f\\u2060-\\u206f\\ufeff\\ufff0-\\uffff]", "g");
var escapeCharacters = {
  "\b": "\\b",
  "	": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "'": "\\'",
  "\\": "\\\\"
};
var hex = 16;
var unicodeLength = 4;
function escape(char) {
  return escapeCharacters[char] || `\\u${`0000${char.charCodeAt(0).toString(hex)}`.slice(-unicodeLength)}`;
}
__name(escape, "escape");
function inspectString(string, options) {
  if (stringEscapeChars.test(string)) {
    string = string.replace(stringEscapeChars, escape);
  }
  return options.stylize(`'${truncate(string, options.truncate - 2)}'`, "string");
}
__name(inspectString, "inspectString");
function inspectSymbol(value) {
  if ("description" in Symbol.prototype) {
    return value.description ? `Symbol(${value.description})` : "Symbol()";
  }
  return value.toString();
}
__name(inspectSymbol, "inspectSymbol");
var getPromiseValue = /* @__PURE__ */ __name(() => "Promise{\u2026}", "getPromiseValue");
var promise_default = getPromiseValue;
function inspectObject(object, options) {
  const properties = Object.getOwnPropertyNames(object);
  const symbols = Object.getOwnPropertySymbols ? Object.getOwnPropertySymbols(object) : [];
  if (properties.length === 0 && symbols.length === 0) {
    return "{}";
  }
  options.truncate -= 4;
  options.seen = options.seen || [];
  if (options.seen.includes(object)) {
    return "[Circular]";
  }
  options.seen.push(object);
  const propertyContents = inspectList(properties.map((key) => [key, object[key]]), options, inspectProperty);
  const symbolContents = inspectList(symbols.map((key) => [key, object[key]]), options, inspectProperty);
  options.seen.pop();
  let sep = "";
  if (propertyContents && symbolContents) {
    sep = ", ";
  }
  return `{ ${propertyContents}${sep}${symbolContents} }`;
}
__name(inspectObject, "inspectObject");
var toStringTag = typeof Symbol !== "undefined" && Symbol.toStringTag ? Symbol.toStringTag : false;
function inspectClass(value, options) {
  let name = "";
  if (toStringTag && toStringTag in value) {
    name = value[toStringTag];
  }
  name = name || value.constructor.name;
  if (!name || name === "_class") {
    name = "<Anonymous Class>";
  }
  options.truncate -= name.length;
  return `${name}${inspectObject(value, options)}`;
}
__name(inspectClass, "inspectClass");
function inspectArguments(args, options) {
  if (args.length === 0)
    return "Arguments[]";
  options.truncate -= 13;
  return `Arguments[ ${inspectList(args, options)} ]`;
}
__name(inspectArguments, "inspectArguments");
var errorKeys = [
  "stack",
  "line",
  "column",
  "name",
  "message",
  "fileName",
  "lineNumber",
  "columnNumber",
  "number",
  "description",
  "cause"
];
function inspectObject2(error, options) {
  const properties = Object.getOwnPropertyNames(error).filter((key) => errorKeys.indexOf(key) === -1);
  const name = error.name;
  options.truncate -= name.length;
  let message = "";
  if (typeof error.message === "string") {
    message = truncate(error.message, options.truncate);
  } else {
    properties.unshift("message");
  }
  message = message ? `: ${message}` : "";
  options.truncate -= message.length + 5;
  options.seen = options.seen || [];
  if (options.seen.includes(error)) {
    return "[Circular]";
  }
  options.seen.push(error);
  const propertyContents = inspectList(properties.map((key) => [key, error[key]]), options, inspectProperty);
  return `${name}${message}${propertyContents ? ` { ${propertyContents} }` : ""}`;
}
__name(inspectObject2, "inspectObject");
function inspectAttribute([key, value], options) {
  options.truncate -= 3;
  if (!value) {
    return `${options.stylize(String(key), "yellow")}`;
  }
  return `${options.stylize(String(key), "yellow")}=${options.stylize(`"${value}"`, "string")}`;
}
__name(inspectAttribute, "inspectAttribute");
function inspectNodeCollection(collection, options) {
  return inspectList(collection, options, inspectNode, "\n");
}
__name(inspectNodeCollection, "inspectNodeCollection");
function inspectNode(node2, options) {
  switch (node2.nodeType) {
    case 1:
      return inspectHTML(node2, options);
    case 3:
      return options.inspect(node2.data, options);
    default:
      return options.inspect(node2, options);
  }
}
__name(inspectNode, "inspectNode");
function inspectHTML(element, options) {
  const properties = element.getAttributeNames();
  const name = element.tagName.toLowerCase();
  const head = options.stylize(`<${name}`, "special");
  const headClose = options.stylize(`>`, "special");
  const tail = options.stylize(`</${name}>`, "special");
  options.truncate -= name.length * 2 + 5;
  let propertyContents = "";
  if (properties.length > 0) {
    propertyContents += " ";
    propertyContents += inspectList(properties.map((key) => [key, element.getAttribute(key)]), options, inspectAttribute, " ");
  }
  options.truncate -= propertyContents.length;
  const truncate2 = options.truncate;
  let children = inspectNodeCollection(element.children, options);
  if (children && children.length > truncate2) {
    children = `${truncator}(${element.children.length})`;
  }
  return `${head}${propertyContents}${headClose}${children}${tail}`;
}
__name(inspectHTML, "inspectHTML");
var symbolsSupported = typeof Symbol === "function" && typeof Symbol.for === "function";
var chaiInspect = symbolsSupported ? /* @__PURE__ */ Symbol.for("chai/inspect") : "@@chai/inspect";
var nodeInspect = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom");
var constructorMap = /* @__PURE__ */ new WeakMap();
var stringTagMap = {};
var baseTypesMap = {
  undefined: /* @__PURE__ */ __name((value, options) => options.stylize("undefined", "undefined"), "undefined"),
  null: /* @__PURE__ */ __name((value, options) => options.stylize("null", "null"), "null"),
  boolean: /* @__PURE__ */ __name((value, options) => options.stylize(String(value), "boolean"), "boolean"),
  Boolean: /* @__PURE__ */ __name((value, options) => options.stylize(String(value), "boolean"), "Boolean"),
  number: inspectNumber,
  Number: inspectNumber,
  bigint: inspectBigInt,
  BigInt: inspectBigInt,
  string: inspectString,
  String: inspectString,
  function: inspectFunction,
  Function: inspectFunction,
  symbol: inspectSymbol,
  // A Symbol polyfill will return `Symbol` not `symbol` from typedetect
  Symbol: inspectSymbol,
  Array: inspectArray,
  Date: inspectDate,
  Map: inspectMap,
  Set: inspectSet,
  RegExp: inspectRegExp,
  Promise: promise_default,
  // WeakSet, WeakMap are totally opaque to us
  WeakSet: /* @__PURE__ */ __name((value, options) => options.stylize("WeakSet{\u2026}", "special"), "WeakSet"),
  WeakMap: /* @__PURE__ */ __name((value, options) => options.stylize("WeakMap{\u2026}", "special"), "WeakMap"),
  Arguments: inspectArguments,
  Int8Array: inspectTypedArray,
  Uint8Array: inspectTypedArray,
  Uint8ClampedArray: inspectTypedArray,
  Int16Array: inspectTypedArray,
  Uint16Array: inspectTypedArray,
  Int32Array: inspectTypedArray,
  Uint32Array: inspectTypedArray,
  Float32Array: inspectTypedArray,
  Float64Array: inspectTypedArray,
  Generator: /* @__PURE__ */ __name(() => "", "Generator"),
  DataView: /* @__PURE__ */ __name(() => "", "DataView"),
  ArrayBuffer: /* @__PURE__ */ __name(() => "", "ArrayBuffer"),
  Error: inspectObject2,
  HTMLCollection: inspectNodeCollection,
  NodeList: inspectNodeCollection
};
var inspectCustom = /* @__PURE__ */ __name((value, options, type3, inspectFn) => {
  if (chaiInspect in value && typeof value[chaiInspect] === "function") {
    return value[chaiInspect](options);
  }
  if (nodeInspect in value && typeof value[nodeInspect] === "function") {
    return value[nodeInspect](options.depth, options, inspectFn);
  }
  if ("inspect" in value && typeof value.inspect === "function") {
    return value.inspect(options.depth, options);
  }
  if ("constructor" in value && constructorMap.has(value.constructor)) {
    return constructorMap.get(value.constructor)(value, options);
  }
  if (stringTagMap[type3]) {
    return stringTagMap[type3](value, options);
  }
  return "";
}, "inspectCustom");
var toString = Object.prototype.toString;
function inspect(value, opts = {}) {
  const options = normaliseOptions(opts, inspect);
  const { customInspect } = options;
  let type3 = value === null ? "null" : typeof value;
  if (type3 === "object") {
    type3 = toString.call(value).slice(8, -1);
  }
  if (type3 in baseTypesMap) {
    return baseTypesMap[type3](value, options);
  }
  if (customInspect && value) {
    const output = inspectCustom(value, options, type3, inspect);
    if (output) {
      if (typeof output === "string")
        return output;
      return inspect(output, options);
    }
  }
  const proto = value ? Object.getPrototypeOf(value) : false;
  if (proto === Object.prototype || proto === null) {
    return inspectObject(value, options);
  }
  if (value && typeof HTMLElement === "function" && value instanceof HTMLElement) {
    return inspectHTML(value, options);
  }
  if ("constructor" in value) {
    if (value.constructor !== Object) {
      return inspectClass(value, options);
    }
    return inspectObject(value, options);
  }
  if (value === Object(value)) {
    return inspectObject(value, options);
  }
  return options.stylize(String(value), type3);
}
__name(inspect, "inspect");
var config = {
  /**
   * ### config.includeStack
   *
   * User configurable property, influences whether stack trace
   * is included in Assertion error message. Default of false
   * suppresses stack trace in the error message.
   *
   *     chai.config.includeStack = true;  // enable stack on error
   *
   * @param {boolean}
   * @public
   */
  includeStack: false,
  /**
   * ### config.showDiff
   *
   * User configurable property, influences whether or not
   * the `showDiff` flag should be included in the thrown
   * AssertionErrors. `false` will always be `false`; `true`
   * will be true when the assertion has requested a diff
   * be shown.
   *
   * @param {boolean}
   * @public
   */
  showDiff: true,
  /**
   * ### config.truncateThreshold
   *
   * User configurable property, sets length threshold for actual and
   * expected values in assertion errors. If this threshold is exceeded, for
   * example for large data structures, the value is replaced with something
   * like `[ Array(3) ]` or `{ Object (prop1, prop2) }`.
   *
   * Set it to zero if you want to disable truncating altogether.
   *
   * This is especially userful when doing assertions on arrays: having this
   * set to a reasonable large value makes the failure messages readily
   * inspectable.
   *
   *     chai.config.truncateThreshold = 0;  // disable truncating
   *
   * @param {number}
   * @public
   */
  truncateThreshold: 40,
  /**
   * ### config.useProxy
   *
   * User configurable property, defines if chai will use a Proxy to throw
   * an error when a non-existent property is read, which protects users
   * from typos when using property-based assertions.
   *
   * Set it to false if you want to disable this feature.
   *
   *     chai.config.useProxy = false;  // disable use of Proxy
   *
   * This feature is automatically disabled regardless of this config value
   * in environments that don't support proxies.
   *
   * @param {boolean}
   * @public
   */
  useProxy: true,
  /**
   * ### config.proxyExcludedKeys
   *
   * User configurable property, defines which properties should be ignored
   * instead of throwing an error if they do not exist on the assertion.
   * This is only applied if the environment Chai is running in supports proxies and
   * if the `useProxy` configuration setting is enabled.
   * By default, `then` and `inspect` will not throw an error if they do not exist on the
   * assertion object because the `.inspect` property is read by `util.inspect` (for example, when
   * using `console.log` on the assertion object) and `.then` is necessary for promise type-checking.
   *
   *     // By default these keys will not throw an error if they do not exist on the assertion object
   *     chai.config.proxyExcludedKeys = ['then', 'inspect'];
   *
   * @param {Array}
   * @public
   */
  proxyExcludedKeys: ["then", "catch", "inspect", "toJSON"],
  /**
   * ### config.deepEqual
   *
   * User configurable property, defines which a custom function to use for deepEqual
   * comparisons.
   * By default, the function used is the one from the `deep-eql` package without custom comparator.
   *
   *     // use a custom comparator
   *     chai.config.deepEqual = (expected, actual) => {
   *         return chai.util.eql(expected, actual, {
   *             comparator: (expected, actual) => {
   *                 // for non number comparison, use the default behavior
   *                 if(typeof expected !== 'number') return null;
   *                 // allow a difference of 10 between compared numbers
   *                 return typeof actual === 'number' && Math.abs(actual - expected) < 10
   *             }
   *         })
   *     };
   *
   * @param {Function}
   * @public
   */
  deepEqual: null
};
function inspect2(obj, showHidden, depth, colors) {
  let options = {
    colors,
    depth: typeof depth === "undefined" ? 2 : depth,
    showHidden,
    truncate: config.truncateThreshold ? config.truncateThreshold : Infinity
  };
  return inspect(obj, options);
}
__name(inspect2, "inspect");
function objDisplay(obj) {
  let str = inspect2(obj), type3 = Object.prototype.toString.call(obj);
  if (config.truncateThreshold && str.length >= config.truncateThreshold) {
    if (type3 === "[object Function]") {
      const objAsFunction = (
        /** @type {Function} */
        obj
      );
      return !objAsFunction.name || objAsFunction.name === "" ? "[Function]" : "[Function: " + objAsFunction.name + "]";
    } else if (type3 === "[object Array]") {
      const objAsArray = (
        /** @type {unknown[]} */
        obj
      );
      return "[ Array(" + objAsArray.length + ") ]";
    } else if (type3 === "[object Object]") {
      const objAsObject = (
        /** @type {Record<PropertyKey, unknown>} */
        obj
      );
      let keys2 = Object.keys(objAsObject), kstr = keys2.length > 2 ? keys2.splice(0, 2).join(", ") + ", ..." : keys2.join(", ");
      return "{ Object (" + kstr + ") }";
    } else {
      return str;
    }
  } else {
    return str;
  }
}
__name(objDisplay, "objDisplay");
function getMessage2(obj, args) {
  let negate = flag(obj, "negate");
  let val = flag(obj, "object");
  let expected = args[3];
  let actual = getActual(obj, args);
  let rawMsg = negate ? args[2] : args[1];
  let flagMsg = flag(obj, "message");
  if (typeof rawMsg === "function") rawMsg = rawMsg();
  const template = (
    /** @type {string} */
    rawMsg || ""
  );
  const msg = template.replace(/#\{(this|act|exp)\}/g, function(_, tag) {
    if (tag === "this") {
      return objDisplay(val);
    }
    if (tag === "act") {
      return objDisplay(actual);
    }
    return objDisplay(expected);
  });
  return flagMsg ? flagMsg + ": " + msg : msg;
}
__name(getMessage2, "getMessage");
function transferFlags(source, object, includeAll) {
  const sourceWithFlags = (
    /** @type {{__flags?: Record<PropertyKey, unknown>}} */
    source
  );
  const objWithFlags = (
    /** @type {{__flags?: Record<PropertyKey, unknown>}} */
    object
  );
  let flags = sourceWithFlags.__flags || (sourceWithFlags.__flags = /* @__PURE__ */ Object.create(null));
  const objFlags = objWithFlags.__flags || (objWithFlags.__flags = /* @__PURE__ */ Object.create(null));
  includeAll = arguments.length === 3 ? includeAll : true;
  for (let flag32 in flags) {
    if (includeAll || flag32 !== "object" && flag32 !== "ssfi" && flag32 !== "lockSsfi" && flag32 != "message") {
      objFlags[flag32] = flags[flag32];
    }
  }
}
__name(transferFlags, "transferFlags");
function type2(obj) {
  if (typeof obj === "undefined") {
    return "undefined";
  }
  if (obj === null) {
    return "null";
  }
  const stringTag = obj[Symbol.toStringTag];
  if (typeof stringTag === "string") {
    return stringTag;
  }
  const sliceStart = 8;
  const sliceEnd = -1;
  return Object.prototype.toString.call(obj).slice(sliceStart, sliceEnd);
}
__name(type2, "type");
function FakeMap() {
  this._key = "chai/deep-eql__" + Math.random() + Date.now();
}
__name(FakeMap, "FakeMap");
FakeMap.prototype = {
  get: /* @__PURE__ */ __name(function get(key) {
    return key[this._key];
  }, "get"),
  set: /* @__PURE__ */ __name(function set(key, value) {
    if (Object.isExtensible(key)) {
      Object.defineProperty(key, this._key, {
        value,
        configurable: true
      });
    }
  }, "set")
};
var MemoizeMap = typeof WeakMap === "function" ? WeakMap : FakeMap;
function memoizeCompare(leftHandOperand, rightHandOperand, memoizeMap) {
  if (!memoizeMap || isPrimitive(leftHandOperand) || isPrimitive(rightHandOperand)) {
    return null;
  }
  var leftHandMap = memoizeMap.get(leftHandOperand);
  if (leftHandMap) {
    var result = leftHandMap.get(rightHandOperand);
    if (typeof result === "boolean") {
      return result;
    }
  }
  return null;
}
__name(memoizeCompare, "memoizeCompare");
function memoizeSet(leftHandOperand, rightHandOperand, memoizeMap, result) {
  if (!memoizeMap || isPrimitive(leftHandOperand) || isPrimitive(rightHandOperand)) {
    return;
  }
  var leftHandMap = memoizeMap.get(leftHandOperand);
  if (leftHandMap) {
    leftHandMap.set(rightHandOperand, result);
  } else {
    leftHandMap = new MemoizeMap();
    leftHandMap.set(rightHandOperand, result);
    memoizeMap.set(leftHandOperand, leftHandMap);
  }
}
__name(memoizeSet, "memoizeSet");
var deep_eql_default = deepEqual;
function deepEqual(leftHandOperand, rightHandOperand, options) {
  if (options && options.comparator) {
    return extensiveDeepEqual(leftHandOperand, rightHandOperand, options);
  }
  var simpleResult = simpleEqual(leftHandOperand, rightHandOperand);
  if (simpleResult !== null) {
    return simpleResult;
  }
  return extensiveDeepEqual(leftHandOperand, rightHandOperand, options);
}
__name(deepEqual, "deepEqual");
function simpleEqual(leftHandOperand, rightHandOperand) {
  if (leftHandOperand === rightHandOperand) {
    return leftHandOperand !== 0 || 1 / leftHandOperand === 1 / rightHandOperand;
  }
  if (leftHandOperand !== leftHandOperand && // eslint-disable-line no-self-compare
  rightHandOperand !== rightHandOperand) {
    return true;
  }
  if (isPrimitive(leftHandOperand) || isPrimitive(rightHandOperand)) {
    return false;
  }
  return null;
}
__name(simpleEqual, "simpleEqual");
function extensiveDeepEqual(leftHandOperand, rightHandOperand, options) {
  options = options || {};
  options.memoize = options.memoize === false ? false : options.memoize || new MemoizeMap();
  var comparator = options && options.comparator;
  var memoizeResultLeft = memoizeCompare(leftHandOperand, rightHandOperand, options.memoize);
  if (memoizeResultLeft !== null) {
    return memoizeResultLeft;
  }
  var memoizeResultRight = memoizeCompare(rightHandOperand, leftHandOperand, options.memoize);
  if (memoizeResultRight !== null) {
    return memoizeResultRight;
  }
  if (comparator) {
    var comparatorResult = comparator(leftHandOperand, rightHandOperand);
    if (comparatorResult === false || comparatorResult === true) {
      memoizeSet(leftHandOperand, rightHandOperand, options.memoize, comparatorResult);
      return comparatorResult;
    }
    var simpleResult = simpleEqual(leftHandOperand, rightHandOperand);
    if (simpleResult !== null) {
      return simpleResult;
    }
  }
  var leftHandType = type2(leftHandOperand);
  if (leftHandType !== type2(rightHandOperand)) {
    memoizeSet(leftHandOperand, rightHandOperand, options.memoize, false);
    return false;
  }
  memoizeSet(leftHandOperand, rightHandOperand, options.memoize, true);
  var result = extensiveDeepEqualByType(leftHandOperand, rightHandOperand, leftHandType, options);
  memoizeSet(leftHandOperand, rightHandOperand, options.memoize, result);
  return result;
}
__name(extensiveDeepEqual, "extensiveDeepEqual");
function extensiveDeepEqualByType(leftHandOperand, rightHandOperand, leftHandType, options) {
  switch (leftHandType) {
    case "String":
    case "Number":
    case "Boolean":
    case "Date":
      return deepEqual(leftHandOperand.valueOf(), rightHandOperand.valueOf());
    case "Promise":
    case "Symbol":
    case "function":
    case "WeakMap":
    case "WeakSet":
      return leftHandOperand === rightHandOperand;
    case "Error":
      return keysEqual(leftHandOperand, rightHandOperand, ["name", "message", "code"], options);
    case "Arguments":
    case "Int8Array":
    case "Uint8Array":
    case "Uint8ClampedArray":
    case "Int16Array":
    case "Uint16Array":
    case "Int32Array":
    case "Uint32Array":
    case "Float32Array":
    case "Float64Array":
    case "Array":
      return iterableEqual(leftHandOperand, rightHandOperand, options);
    case "RegExp":
      return regexpEqual(leftHandOperand, rightHandOperand);
    case "Generator":
      return generatorEqual(leftHandOperand, rightHandOperand, options);
    case "DataView":
      return iterableEqual(new Uint8Array(leftHandOperand.buffer), new Uint8Array(rightHandOperand.buffer), options);
    case "ArrayBuffer":
      return iterableEqual(new Uint8Array(leftHandOperand), new Uint8Array(rightHandOperand), options);
    case "Set":
      return entriesEqual(leftHandOperand, rightHandOperand, options);
    case "Map":
      return entriesEqual(leftHandOperand, rightHandOperand, options);
    case "Temporal.PlainDate":
    case "Temporal.PlainTime":
    case "Temporal.PlainDateTime":
    case "Temporal.Instant":
    case "Temporal.ZonedDateTime":
    case "Temporal.PlainYearMonth":
    case "Temporal.PlainMonthDay":
      return leftHandOperand.equals(rightHandOperand);
    case "Temporal.Duration":
      return leftHandOperand.total("nanoseconds") === rightHandOperand.total("nanoseconds");
    case "Temporal.TimeZone":
    case "Temporal.Calendar":
      return leftHandOperand.toString() === rightHandOperand.toString();
    default:
      return objectEqual(leftHandOperand, rightHandOperand, options);
  }
}
__name(extensiveDeepEqualByType, "extensiveDeepEqualByType");
function regexpEqual(leftHandOperand, rightHandOperand) {
  return leftHandOperand.toString() === rightHandOperand.toString();
}
__name(regexpEqual, "regexpEqual");
function entriesEqual(leftHandOperand, rightHandOperand, options) {
  try {
    if (leftHandOperand.size !== rightHandOperand.size) {
      return false;
    }
    if (leftHandOperand.size === 0) {
      return true;
    }
  } catch (sizeError) {
    return false;
  }
  var leftHandItems = [];
  var rightHandItems = [];
  leftHandOperand.forEach(/* @__PURE__ */ __name(function gatherEntries(key, value) {
    leftHandItems.push([key, value]);
  }, "gatherEntries"));
  rightHandOperand.forEach(/* @__PURE__ */ __name(function gatherEntries(key, value) {
    rightHandItems.push([key, value]);
  }, "gatherEntries"));
  return iterableEqual(leftHandItems.sort(), rightHandItems.sort(), options);
}
__name(entriesEqual, "entriesEqual");
function iterableEqual(leftHandOperand, rightHandOperand, options) {
  var length = leftHandOperand.length;
  if (length !== rightHandOperand.length) {
    return false;
  }
  if (length === 0) {
    return true;
  }
  var index2 = -1;
  while (++index2 < length) {
    if (deepEqual(leftHandOperand[index2], rightHandOperand[index2], options) === false) {
      return false;
    }
  }
  return true;
}
__name(iterableEqual, "iterableEqual");
function generatorEqual(leftHandOperand, rightHandOperand, options) {
  return iterableEqual(getGeneratorEntries(leftHandOperand), getGeneratorEntries(rightHandOperand), options);
}
__name(generatorEqual, "generatorEqual");
function hasIteratorFunction(target) {
  return typeof Symbol !== "undefined" && typeof target === "object" && typeof Symbol.iterator !== "undefined" && typeof target[Symbol.iterator] === "function";
}
__name(hasIteratorFunction, "hasIteratorFunction");
function getIteratorEntries(target) {
  if (hasIteratorFunction(target)) {
    try {
      return getGeneratorEntries(target[Symbol.iterator]());
    } catch (iteratorError) {
      return [];
    }
  }
  return [];
}
__name(getIteratorEntries, "getIteratorEntries");
function getGeneratorEntries(generator) {
  var generatorResult = generator.next();
  var accumulator = [generatorResult.value];
  while (generatorResult.done === false) {
    generatorResult = generator.next();
    accumulator.push(generatorResult.value);
  }
  return accumulator;
}
__name(getGeneratorEntries, "getGeneratorEntries");
function getEnumerableKeys(target) {
  var keys2 = [];
  for (var key in target) {
    keys2.push(key);
  }
  return keys2;
}
__name(getEnumerableKeys, "getEnumerableKeys");
function getEnumerableSymbols(target) {
  var keys2 = [];
  var allKeys = Object.getOwnPropertySymbols(target);
  for (var i2 = 0; i2 < allKeys.length; i2 += 1) {
    var key = allKeys[i2];
    if (Object.getOwnPropertyDescriptor(target, key).enumerable) {
      keys2.push(key);
    }
  }
  return keys2;
}
__name(getEnumerableSymbols, "getEnumerableSymbols");
function keysEqual(leftHandOperand, rightHandOperand, keys2, options) {
  var length = keys2.length;
  if (length === 0) {
    return true;
  }
  for (var i2 = 0; i2 < length; i2 += 1) {
    if (deepEqual(leftHandOperand[keys2[i2]], rightHandOperand[keys2[i2]], options) === false) {
      return false;
    }
  }
  return true;
}
__name(keysEqual, "keysEqual");
function objectEqual(leftHandOperand, rightHandOperand, options) {
  var leftHandKeys = getEnumerableKeys(leftHandOperand);
  var rightHandKeys = getEnumerableKeys(rightHandOperand);
  var leftHandSymbols = getEnumerableSymbols(leftHandOperand);
  var rightHandSymbols = getEnumerableSymbols(rightHandOperand);
  leftHandKeys = leftHandKeys.concat(leftHandSymbols);
  rightHandKeys = rightHandKeys.concat(rightHandSymbols);
  if (leftHandKeys.length && leftHandKeys.length === rightHandKeys.length) {
    if (iterableEqual(mapSymbols(leftHandKeys).sort(), mapSymbols(rightHandKeys).sort()) === false) {
      return false;
    }
    return keysEqual(leftHandOperand, rightHandOperand, leftHandKeys, options);
  }
  var leftHandEntries = getIteratorEntries(leftHandOperand);
  var rightHandEntries = getIteratorEntries(rightHandOperand);
  if (leftHandEntries.length && leftHandEntries.length === rightHandEntries.length) {
    leftHandEntries.sort();
    rightHandEntries.sort();
    return iterableEqual(leftHandEntries, rightHandEntries, options);
  }
  if (leftHandKeys.length === 0 && leftHandEntries.length === 0 && rightHandKeys.length === 0 && rightHandEntries.length === 0) {
    return true;
  }
  return false;
}
__name(objectEqual, "objectEqual");
function isPrimitive(value) {
  return value === null || typeof value !== "object";
}
__name(isPrimitive, "isPrimitive");
function mapSymbols(arr) {
  return arr.map(/* @__PURE__ */ __name(function mapSymbol(entry) {
    if (typeof entry === "symbol") {
      return entry.toString();
    }
    return entry;
  }, "mapSymbol"));
}
__name(mapSymbols, "mapSymbols");
function hasProperty(obj, name) {
  if (typeof obj === "undefined" || obj === null) {
    return false;
  }
  return name in Object(obj);
}
__name(hasProperty, "hasProperty");
function parsePath(path) {
  const str = path.replace(/([^\\])\[/g, "$1.[");
  const parts3 = str.match(/(\\\.|[^.]+?)+/g);
  return parts3.map((value) => {
    if (value === "constructor" || value === "__proto__" || value === "prototype") {
      return {};
    }
    const regexp = /^\[(\d+)\]$/;
    const mArr = regexp.exec(value);
    let parsed2 = null;
    if (mArr) {
      parsed2 = { i: parseFloat(mArr[1]) };
    } else {
      parsed2 = { p: value.replace(/\\([.[\]])/g, "$1") };
    }
    return parsed2;
  });
}
__name(parsePath, "parsePath");
function internalGetPathValue(obj, parsed2, pathDepth) {
  let temporaryValue = obj;
  let res = null;
  pathDepth = typeof pathDepth === "undefined" ? parsed2.length : pathDepth;
  for (let i2 = 0; i2 < pathDepth; i2++) {
    const part = parsed2[i2];
    if (temporaryValue) {
      if (typeof part.p === "undefined") {
        temporaryValue = temporaryValue[part.i];
      } else {
        temporaryValue = temporaryValue[part.p];
      }
      if (i2 === pathDepth - 1) {
        res = temporaryValue;
      }
    }
  }
  return res;
}
__name(internalGetPathValue, "internalGetPathValue");
function getPathInfo(obj, path) {
  const parsed2 = parsePath(path);
  const last = parsed2[parsed2.length - 1];
  const info = {
    parent: parsed2.length > 1 ? internalGetPathValue(obj, parsed2, parsed2.length - 1) : obj,
    name: last.p || last.i,
    value: internalGetPathValue(obj, parsed2)
  };
  info.exists = hasProperty(info.parent, info.name);
  return info;
}
__name(getPathInfo, "getPathInfo");
var _Assertion = class _Assertion2 {
  /**
   * Creates object for chaining.
   * `Assertion` objects contain metadata in the form of flags. Three flags can
   * be assigned during instantiation by passing arguments to this constructor:
   *
   * - `object`: This flag contains the target of the assertion. For example, in
   * the assertion `expect(numKittens).to.equal(7);`, the `object` flag will
   * contain `numKittens` so that the `equal` assertion can reference it when
   * needed.
   *
   * - `message`: This flag contains an optional custom error message to be
   * prepended to the error message that's generated by the assertion when it
   * fails.
   *
   * - `ssfi`: This flag stands for "start stack function indicator". It
   * contains a function reference that serves as the starting point for
   * removing frames from the stack trace of the error that's created by the
   * assertion when it fails. The goal is to provide a cleaner stack trace to
   * end users by removing Chai's internal functions. Note that it only works
   * in environments that support `Error.captureStackTrace`, and only when
   * `Chai.config.includeStack` hasn't been set to `false`.
   *
   * - `lockSsfi`: This flag controls whether or not the given `ssfi` flag
   * should retain its current value, even as assertions are chained off of
   * this object. This is usually set to `true` when creating a new assertion
   * from within another assertion. It's also temporarily set to `true` before
   * an overwritten assertion gets called by the overwriting assertion.
   *
   * - `eql`: This flag contains the deepEqual function to be used by the assertion.
   *
   * @param {unknown} obj target of the assertion
   * @param {string=} msg (optional) custom error message
   * @param {Function=} ssfi (optional) starting point for removing stack frames
   * @param {boolean=} lockSsfi (optional) whether or not the ssfi flag is locked
   */
  constructor(obj, msg, ssfi, lockSsfi) {
    __publicField(this, "__flags", {});
    flag(this, "ssfi", ssfi || _Assertion2);
    flag(this, "lockSsfi", lockSsfi);
    flag(this, "object", obj);
    flag(this, "message", msg);
    flag(this, "eql", config.deepEqual || deep_eql_default);
    return proxify(this);
  }
  /** @returns {boolean} */
  static get includeStack() {
    console.warn(
      "Assertion.includeStack is deprecated, use chai.config.includeStack instead."
    );
    return config.includeStack;
  }
  /** @param {boolean} value */
  static set includeStack(value) {
    console.warn(
      "Assertion.includeStack is deprecated, use chai.config.includeStack instead."
    );
    config.includeStack = value;
  }
  /** @returns {boolean} */
  static get showDiff() {
    console.warn(
      "Assertion.showDiff is deprecated, use chai.config.showDiff instead."
    );
    return config.showDiff;
  }
  /** @param {boolean} value */
  static set showDiff(value) {
    console.warn(
      "Assertion.showDiff is deprecated, use chai.config.showDiff instead."
    );
    config.showDiff = value;
  }
  /**
   * @param {string} name
   * @param {(...args: never) => unknown} fn
   */
  static addProperty(name, fn) {
    addProperty(this.prototype, name, fn);
  }
  /**
   * @param {string} name
   * @param {(...args: never) => unknown} fn
   */
  static addMethod(name, fn) {
    addMethod(this.prototype, name, fn);
  }
  /**
   * @param {string} name
   * @param {(...args: never) => unknown} fn
   * @param {(...args: never) => unknown} chainingBehavior
   */
  static addChainableMethod(name, fn, chainingBehavior) {
    addChainableMethod(this.prototype, name, fn, chainingBehavior);
  }
  /**
   * @param {string} name
   * @param {(...args: never) => unknown} fn
   */
  static overwriteProperty(name, fn) {
    overwriteProperty(this.prototype, name, fn);
  }
  /**
   * @param {string} name
   * @param {(...args: never) => unknown} fn
   */
  static overwriteMethod(name, fn) {
    overwriteMethod(this.prototype, name, fn);
  }
  /**
   * @param {string} name
   * @param {(...args: never) => unknown} fn
   * @param {(...args: never) => unknown} chainingBehavior
   */
  static overwriteChainableMethod(name, fn, chainingBehavior) {
    overwriteChainableMethod(this.prototype, name, fn, chainingBehavior);
  }
  /**
   * ### .assert(expression, message, negateMessage, expected, actual, showDiff)
   *
   * Executes an expression and check expectations. Throws AssertionError for reporting if test doesn't pass.
   *
   * @name assert
   * @param {unknown} _expr to be tested
   * @param {string | Function} msg or function that returns message to display if expression fails
   * @param {string | Function} _negateMsg or function that returns negatedMessage to display if negated expression fails
   * @param {unknown} expected value (remember to check for negation)
   * @param {unknown} _actual (optional) will default to `this.obj`
   * @param {boolean} showDiff (optional) when set to `true`, assert will display a diff in addition to the message if expression fails
   * @returns {void}
   */
  assert(_expr, msg, _negateMsg, expected, _actual, showDiff) {
    const ok = test(this, arguments);
    if (false !== showDiff) showDiff = true;
    if (void 0 === expected && void 0 === _actual) showDiff = false;
    if (true !== config.showDiff) showDiff = false;
    if (!ok) {
      msg = getMessage2(this, arguments);
      const actual = getActual(this, arguments);
      const assertionErrorObjectProperties = {
        actual,
        expected,
        showDiff
      };
      const operator = getOperator(this, arguments);
      if (operator) {
        assertionErrorObjectProperties.operator = operator;
      }
      throw new AssertionError(
        msg,
        assertionErrorObjectProperties,
        config.includeStack ? this.assert : flag(this, "ssfi")
      );
    }
  }
  /**
   * Quick reference to stored `actual` value for plugin developers.
   *
   * @returns {unknown}
   */
  get _obj() {
    return flag(this, "object");
  }
  /**
   * Quick reference to stored `actual` value for plugin developers.
   *
   * @param {unknown} val
   */
  set _obj(val) {
    flag(this, "object", val);
  }
};
__name(_Assertion, "Assertion");
var Assertion = _Assertion;
var events = new EventTarget();
var _PluginEvent = class _PluginEvent2 extends Event {
  /**
   * @param {string} type
   * @param {string} name
   * @param {Function} fn
   */
  constructor(type3, name, fn) {
    super(type3);
    this.name = String(name);
    this.fn = fn;
  }
};
__name(_PluginEvent, "PluginEvent");
var PluginEvent = _PluginEvent;
function isProxyEnabled() {
  return config.useProxy && typeof Proxy !== "undefined" && typeof Reflect !== "undefined";
}
__name(isProxyEnabled, "isProxyEnabled");
function addProperty(ctx, name, getter) {
  getter = getter === void 0 ? function() {
  } : getter;
  Object.defineProperty(ctx, name, {
    get: /* @__PURE__ */ __name(function propertyGetter() {
      if (!isProxyEnabled() && !flag(this, "lockSsfi")) {
        flag(this, "ssfi", propertyGetter);
      }
      let result = getter.call(this);
      if (result !== void 0) return result;
      let newAssertion = new Assertion();
      transferFlags(this, newAssertion);
      return newAssertion;
    }, "propertyGetter"),
    configurable: true
  });
  events.dispatchEvent(new PluginEvent("addProperty", name, getter));
}
__name(addProperty, "addProperty");
var fnLengthDesc = Object.getOwnPropertyDescriptor(function() {
}, "length");
function addLengthGuard(fn, assertionName, isChainable) {
  if (!fnLengthDesc?.configurable) return fn;
  Object.defineProperty(fn, "length", {
    get: /* @__PURE__ */ __name(function() {
      if (isChainable) {
        throw Error(
          "Invalid Chai property: " + assertionName + '.length. Due to a compatibility issue, "length" cannot directly follow "' + assertionName + '". Use "' + assertionName + '.lengthOf" instead.'
        );
      }
      throw Error(
        "Invalid Chai property: " + assertionName + '.length. See docs for proper usage of "' + assertionName + '".'
      );
    }, "get")
  });
  return fn;
}
__name(addLengthGuard, "addLengthGuard");
function getProperties(object) {
  let result = Object.getOwnPropertyNames(object);
  function addProperty2(property) {
    if (result.indexOf(property) === -1) {
      result.push(property);
    }
  }
  __name(addProperty2, "addProperty");
  let proto = Object.getPrototypeOf(object);
  while (proto !== null) {
    Object.getOwnPropertyNames(proto).forEach(addProperty2);
    proto = Object.getPrototypeOf(proto);
  }
  return result;
}
__name(getProperties, "getProperties");
var builtins = ["__flags", "__methods", "_obj", "assert"];
function proxify(obj, nonChainableMethodName) {
  if (!isProxyEnabled()) return obj;
  return new Proxy(obj, {
    get: /* @__PURE__ */ __name(function proxyGetter(target, property) {
      if (typeof property === "string" && config.proxyExcludedKeys.indexOf(property) === -1 && !Reflect.has(target, property)) {
        if (nonChainableMethodName) {
          throw Error(
            "Invalid Chai property: " + String(nonChainableMethodName) + "." + property + '. See docs for proper usage of "' + String(nonChainableMethodName) + '".'
          );
        }
        let suggestion = null;
        let suggestionDistance = 4;
        getProperties(target).forEach(function(prop) {
          if (
            // we actually mean to check `Object.prototype` here
            // eslint-disable-next-line no-prototype-builtins
            !Object.prototype.hasOwnProperty(prop) && builtins.indexOf(prop) === -1
          ) {
            let dist = stringDistanceCapped(property, prop, suggestionDistance);
            if (dist < suggestionDistance) {
              suggestion = prop;
              suggestionDistance = dist;
            }
          }
        });
        if (suggestion !== null) {
          throw Error(
            "Invalid Chai property: " + property + '. Did you mean "' + suggestion + '"?'
          );
        } else {
          throw Error("Invalid Chai property: " + property);
        }
      }
      if (builtins.indexOf(property) === -1 && !flag(target, "lockSsfi")) {
        flag(target, "ssfi", proxyGetter);
      }
      return Reflect.get(target, property);
    }, "proxyGetter")
  });
}
__name(proxify, "proxify");
function stringDistanceCapped(strA, strB, cap) {
  if (Math.abs(strA.length - strB.length) >= cap) {
    return cap;
  }
  let memo = [];
  for (let i2 = 0; i2 <= strA.length; i2++) {
    memo[i2] = Array(strB.length + 1).fill(0);
    memo[i2][0] = i2;
  }
  for (let j = 0; j < strB.length; j++) {
    memo[0][j] = j;
  }
  for (let i2 = 1; i2 <= strA.length; i2++) {
    let ch = strA.charCodeAt(i2 - 1);
    for (let j = 1; j <= strB.length; j++) {
      if (Math.abs(i2 - j) >= cap) {
        memo[i2][j] = cap;
        continue;
      }
      memo[i2][j] = Math.min(
        memo[i2 - 1][j] + 1,
        memo[i2][j - 1] + 1,
        memo[i2 - 1][j - 1] + (ch === strB.charCodeAt(j - 1) ? 0 : 1)
      );
    }
  }
  return memo[strA.length][strB.length];
}
__name(stringDistanceCapped, "stringDistanceCapped");
function addMethod(ctx, name, method) {
  let methodWrapper = /* @__PURE__ */ __name(function() {
    if (!flag(this, "lockSsfi")) {
      flag(this, "ssfi", methodWrapper);
    }
    let result = method.apply(this, arguments);
    if (result !== void 0) return result;
    let newAssertion = new Assertion();
    transferFlags(this, newAssertion);
    return newAssertion;
  }, "methodWrapper");
  addLengthGuard(methodWrapper, name, false);
  ctx[name] = proxify(
    methodWrapper,
    name
  );
  events.dispatchEvent(new PluginEvent("addMethod", name, method));
}
__name(addMethod, "addMethod");
function overwriteProperty(ctx, name, getter) {
  let _get = Object.getOwnPropertyDescriptor(ctx, name);
  let _super = /* @__PURE__ */ __name(function() {
    return;
  }, "_super");
  if (_get && "function" === typeof _get.get) _super = _get.get;
  Object.defineProperty(ctx, name, {
    get: /* @__PURE__ */ __name(function overwritingPropertyGetter() {
      if (!isProxyEnabled() && !flag(this, "lockSsfi")) {
        flag(this, "ssfi", overwritingPropertyGetter);
      }
      let origLockSsfi = flag(this, "lockSsfi");
      flag(this, "lockSsfi", true);
      let result = getter(_super).call(this);
      flag(this, "lockSsfi", origLockSsfi);
      if (result !== void 0) {
        return result;
      }
      let newAssertion = new Assertion();
      transferFlags(this, newAssertion);
      return newAssertion;
    }, "overwritingPropertyGetter"),
    configurable: true
  });
}
__name(overwriteProperty, "overwriteProperty");
function overwriteMethod(ctx, name, method) {
  let _method = (
    /** @type {Record<PropertyKey, unknown>} */
    ctx[name]
  );
  let _super = /* @__PURE__ */ __name(function() {
    throw new Error(String(name) + " is not a function");
  }, "_super");
  if (_method && "function" === typeof _method) _super = _method;
  function overwritingMethodWrapper() {
    if (!flag(this, "lockSsfi")) {
      flag(this, "ssfi", overwritingMethodWrapper);
    }
    let origLockSsfi = flag(this, "lockSsfi");
    flag(this, "lockSsfi", true);
    let result = method(_super).apply(this, arguments);
    flag(this, "lockSsfi", origLockSsfi);
    if (result !== void 0) {
      return result;
    }
    let newAssertion = new Assertion();
    transferFlags(this, newAssertion);
    return newAssertion;
  }
  __name(overwritingMethodWrapper, "overwritingMethodWrapper");
  addLengthGuard(overwritingMethodWrapper, String(name), false);
  ctx[name] = proxify(
    overwritingMethodWrapper,
    name
  );
}
__name(overwriteMethod, "overwriteMethod");
var canSetPrototype = typeof Object.setPrototypeOf === "function";
var testFn = /* @__PURE__ */ __name(function() {
}, "testFn");
var excludeNames = Object.getOwnPropertyNames(testFn).filter(function(name) {
  let propDesc = Object.getOwnPropertyDescriptor(testFn, name);
  if (typeof propDesc !== "object") return true;
  return !propDesc.configurable;
});
var call = Function.prototype.call;
var apply = Function.prototype.apply;
var _PluginAddChainableMethodEvent = class _PluginAddChainableMethodEvent2 extends PluginEvent {
  /**
   * @param {string} type
   * @param {string} name
   * @param {Function} fn
   * @param {Function} chainingBehavior
   */
  constructor(type3, name, fn, chainingBehavior) {
    super(type3, name, fn);
    this.chainingBehavior = chainingBehavior;
  }
};
__name(_PluginAddChainableMethodEvent, "PluginAddChainableMethodEvent");
var PluginAddChainableMethodEvent = _PluginAddChainableMethodEvent;
function addChainableMethod(ctx, name, method, chainingBehavior) {
  const ctxChainable = (
    /** @type {T & {__methods: Record<PropertyKey, ChainableBehavior>}} */
    ctx
  );
  if (typeof chainingBehavior !== "function") {
    chainingBehavior = /* @__PURE__ */ __name(function() {
    }, "chainingBehavior");
  }
  let chainableBehavior = {
    method,
    chainingBehavior
  };
  if (!ctxChainable.__methods) {
    ctxChainable.__methods = {};
  }
  ctxChainable.__methods[name] = chainableBehavior;
  Object.defineProperty(ctx, name, {
    get: /* @__PURE__ */ __name(function chainableMethodGetter() {
      chainableBehavior.chainingBehavior.call(this);
      function chainableMethodWrapper(...args) {
        if (!flag(this, "lockSsfi")) {
          flag(this, "ssfi", chainableMethodWrapper);
        }
        let result = (
          /** @type {(...args: unknown[]) => unknown} */
          chainableBehavior.method.apply(this, args)
        );
        if (result !== void 0) {
          return result;
        }
        let newAssertion = new Assertion();
        transferFlags(this, newAssertion);
        return newAssertion;
      }
      __name(chainableMethodWrapper, "chainableMethodWrapper");
      addLengthGuard(chainableMethodWrapper, name, true);
      if (canSetPrototype) {
        let prototype = Object.create(this);
        prototype.call = call;
        prototype.apply = apply;
        Object.setPrototypeOf(chainableMethodWrapper, prototype);
      } else {
        let asserterNames = Object.getOwnPropertyNames(ctx);
        asserterNames.forEach(function(asserterName) {
          if (excludeNames.indexOf(asserterName) !== -1) {
            return;
          }
          let pd = Object.getOwnPropertyDescriptor(ctx, asserterName);
          if (pd) {
            Object.defineProperty(chainableMethodWrapper, asserterName, pd);
          }
        });
      }
      transferFlags(this, chainableMethodWrapper);
      return proxify(chainableMethodWrapper);
    }, "chainableMethodGetter"),
    configurable: true
  });
  events.dispatchEvent(
    new PluginAddChainableMethodEvent(
      "addChainableMethod",
      name,
      method,
      chainingBehavior
    )
  );
}
__name(addChainableMethod, "addChainableMethod");
function overwriteChainableMethod(ctx, name, method, chainingBehavior) {
  let chainableBehavior = (
    /** @type {{__methods: Record<PropertyKey, ChainableBehavior>}} */
    ctx.__methods[name]
  );
  let _chainingBehavior = chainableBehavior.chainingBehavior;
  chainableBehavior.chainingBehavior = /**
  * @this {T}
  */
  /* @__PURE__ */ __name(function overwritingChainableMethodGetter() {
    let result = chainingBehavior(_chainingBehavior).call(this);
    if (result !== void 0) {
      return result;
    }
    let newAssertion = new Assertion();
    transferFlags(this, newAssertion);
    return newAssertion;
  }, "overwritingChainableMethodGetter");
  let _method = chainableBehavior.method;
  chainableBehavior.method = /* @__PURE__ */ __name(function overwritingChainableMethodWrapper() {
    let result = method(_method).apply(this, arguments);
    if (result !== void 0) {
      return result;
    }
    let newAssertion = new Assertion();
    transferFlags(this, newAssertion);
    return newAssertion;
  }, "overwritingChainableMethodWrapper");
}
__name(overwriteChainableMethod, "overwriteChainableMethod");
function compareByInspect(a, b2) {
  return inspect2(a) < inspect2(b2) ? -1 : 1;
}
__name(compareByInspect, "compareByInspect");
function getOwnEnumerablePropertySymbols(obj) {
  if (typeof Object.getOwnPropertySymbols !== "function") return [];
  return Object.getOwnPropertySymbols(obj).filter(function(sym) {
    return Object.getOwnPropertyDescriptor(obj, sym)?.enumerable;
  });
}
__name(getOwnEnumerablePropertySymbols, "getOwnEnumerablePropertySymbols");
function getOwnEnumerableProperties(obj) {
  return (
    /** @type {PropertyKey[]} */
    Object.keys(obj).concat(
      getOwnEnumerablePropertySymbols(obj)
    )
  );
}
__name(getOwnEnumerableProperties, "getOwnEnumerableProperties");
var isNaN2 = Number.isNaN;
function isObjectType(obj) {
  let objectType = type(obj);
  let objectTypes = ["Array", "Object", "Function"];
  return objectTypes.indexOf(objectType) !== -1;
}
__name(isObjectType, "isObjectType");
function getOperator(obj, args) {
  let operator = flag(obj, "operator");
  let negate = flag(obj, "negate");
  let expected = args[3];
  let msg = negate ? args[2] : args[1];
  if (operator) {
    return String(operator);
  }
  if (typeof msg === "function") msg = msg();
  msg = msg || "";
  if (!msg) {
    return void 0;
  }
  const msgString = String(msg);
  if (/\shave\s/.test(msgString)) {
    return void 0;
  }
  let isObject2 = isObjectType(expected);
  if (/\snot\s/.test(msgString)) {
    return isObject2 ? "notDeepStrictEqual" : "notStrictEqual";
  }
  return isObject2 ? "deepStrictEqual" : "strictEqual";
}
__name(getOperator, "getOperator");
function getName(fn) {
  return fn.name;
}
__name(getName, "getName");
function isRegExp2(obj) {
  return Object.prototype.toString.call(obj) === "[object RegExp]";
}
__name(isRegExp2, "isRegExp");
function isNumeric(obj) {
  return ["Number", "BigInt"].includes(type(obj));
}
__name(isNumeric, "isNumeric");
var { flag: flag2 } = utils_exports;
[
  "to",
  "be",
  "been",
  "is",
  "and",
  "has",
  "have",
  "with",
  "that",
  "which",
  "at",
  "of",
  "same",
  "but",
  "does",
  "still",
  "also"
].forEach(function(chain) {
  Assertion.addProperty(chain);
});
Assertion.addProperty("not", function() {
  flag2(this, "negate", true);
});
Assertion.addProperty("deep", function() {
  flag2(this, "deep", true);
});
Assertion.addProperty("nested", function() {
  flag2(this, "nested", true);
});
Assertion.addProperty("own", function() {
  flag2(this, "own", true);
});
Assertion.addProperty("ordered", function() {
  flag2(this, "ordered", true);
});
Assertion.addProperty("any", function() {
  flag2(this, "any", true);
  flag2(this, "all", false);
});
Assertion.addProperty("all", function() {
  flag2(this, "all", true);
  flag2(this, "any", false);
});
var functionTypes = {
  function: [
    "function",
    "asyncfunction",
    "generatorfunction",
    "asyncgeneratorfunction"
  ],
  asyncfunction: ["asyncfunction", "asyncgeneratorfunction"],
  generatorfunction: ["generatorfunction", "asyncgeneratorfunction"],
  asyncgeneratorfunction: ["asyncgeneratorfunction"]
};
function an(type3, msg) {
  if (msg) flag2(this, "message", msg);
  type3 = type3.toLowerCase();
  let obj = flag2(this, "object"), article = ~["a", "e", "i", "o", "u"].indexOf(type3.charAt(0)) ? "an " : "a ";
  const detectedType = type(obj).toLowerCase();
  if (functionTypes["function"].includes(type3)) {
    this.assert(
      functionTypes[type3].includes(detectedType),
      "expected #{this} to be " + article + type3,
      "expected #{this} not to be " + article + type3
    );
  } else {
    this.assert(
      type3 === detectedType,
      "expected #{this} to be " + article + type3,
      "expected #{this} not to be " + article + type3
    );
  }
}
__name(an, "an");
Assertion.addChainableMethod("an", an);
Assertion.addChainableMethod("a", an);
function SameValueZero(a, b2) {
  return isNaN2(a) && isNaN2(b2) || a === b2;
}
__name(SameValueZero, "SameValueZero");
function includeChainingBehavior() {
  flag2(this, "contains", true);
}
__name(includeChainingBehavior, "includeChainingBehavior");
function include(val, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), objType = type(obj).toLowerCase(), flagMsg = flag2(this, "message"), negate = flag2(this, "negate"), ssfi = flag2(this, "ssfi"), isDeep = flag2(this, "deep"), descriptor = isDeep ? "deep " : "", isEql = isDeep ? flag2(this, "eql") : SameValueZero;
  flagMsg = flagMsg ? flagMsg + ": " : "";
  let included = false;
  switch (objType) {
    case "string":
      included = obj.indexOf(val) !== -1;
      break;
    case "weakset":
      if (isDeep) {
        throw new AssertionError(
          flagMsg + "unable to use .deep.include with WeakSet",
          void 0,
          ssfi
        );
      }
      included = obj.has(val);
      break;
    case "map":
      obj.forEach(function(item) {
        included = included || isEql(item, val);
      });
      break;
    case "set":
      if (isDeep) {
        obj.forEach(function(item) {
          included = included || isEql(item, val);
        });
      } else {
        included = obj.has(val);
      }
      break;
    case "array":
      if (isDeep) {
        included = obj.some(function(item) {
          return isEql(item, val);
        });
      } else {
        included = obj.indexOf(val) !== -1;
      }
      break;
    default: {
      if (val !== Object(val)) {
        throw new AssertionError(
          flagMsg + "the given combination of arguments (" + objType + " and " + type(val).toLowerCase() + ") is invalid for this assertion. You can use an array, a map, an object, a set, a string, or a weakset instead of a " + type(val).toLowerCase(),
          void 0,
          ssfi
        );
      }
      let props = Object.keys(val);
      let firstErr = null;
      let numErrs = 0;
      props.forEach(function(prop) {
        let propAssertion = new Assertion(obj);
        transferFlags(this, propAssertion, true);
        flag2(propAssertion, "lockSsfi", true);
        if (!negate || props.length === 1) {
          propAssertion.property(prop, val[prop]);
          return;
        }
        try {
          propAssertion.property(prop, val[prop]);
        } catch (err) {
          if (!check_error_exports.compatibleConstructor(err, AssertionError)) {
            throw err;
          }
          if (firstErr === null) firstErr = err;
          numErrs++;
        }
      }, this);
      if (negate && props.length > 1 && numErrs === props.length) {
        throw firstErr;
      }
      return;
    }
  }
  this.assert(
    included,
    "expected #{this} to " + descriptor + "include " + inspect2(val),
    "expected #{this} to not " + descriptor + "include " + inspect2(val)
  );
}
__name(include, "include");
Assertion.addChainableMethod("include", include, includeChainingBehavior);
Assertion.addChainableMethod("contain", include, includeChainingBehavior);
Assertion.addChainableMethod("contains", include, includeChainingBehavior);
Assertion.addChainableMethod("includes", include, includeChainingBehavior);
Assertion.addProperty("ok", function() {
  this.assert(
    flag2(this, "object"),
    "expected #{this} to be truthy",
    "expected #{this} to be falsy"
  );
});
Assertion.addProperty("true", function() {
  this.assert(
    true === flag2(this, "object"),
    "expected #{this} to be true",
    "expected #{this} to be false",
    flag2(this, "negate") ? false : true
  );
});
Assertion.addProperty("numeric", function() {
  const object = flag2(this, "object");
  this.assert(
    ["Number", "BigInt"].includes(type(object)),
    "expected #{this} to be numeric",
    "expected #{this} to not be numeric",
    flag2(this, "negate") ? false : true
  );
});
Assertion.addProperty("callable", function() {
  const val = flag2(this, "object");
  const ssfi = flag2(this, "ssfi");
  const message = flag2(this, "message");
  const msg = message ? `${message}: ` : "";
  const negate = flag2(this, "negate");
  const assertionMessage = negate ? `${msg}expected ${inspect2(val)} not to be a callable function` : `${msg}expected ${inspect2(val)} to be a callable function`;
  const isCallable = [
    "Function",
    "AsyncFunction",
    "GeneratorFunction",
    "AsyncGeneratorFunction"
  ].includes(type(val));
  if (isCallable && negate || !isCallable && !negate) {
    throw new AssertionError(assertionMessage, void 0, ssfi);
  }
});
Assertion.addProperty("false", function() {
  this.assert(
    false === flag2(this, "object"),
    "expected #{this} to be false",
    "expected #{this} to be true",
    flag2(this, "negate") ? true : false
  );
});
Assertion.addProperty("null", function() {
  this.assert(
    null === flag2(this, "object"),
    "expected #{this} to be null",
    "expected #{this} not to be null"
  );
});
Assertion.addProperty("undefined", function() {
  this.assert(
    void 0 === flag2(this, "object"),
    "expected #{this} to be undefined",
    "expected #{this} not to be undefined"
  );
});
Assertion.addProperty("NaN", function() {
  this.assert(
    isNaN2(flag2(this, "object")),
    "expected #{this} to be NaN",
    "expected #{this} not to be NaN"
  );
});
function assertExist() {
  let val = flag2(this, "object");
  this.assert(
    val !== null && val !== void 0,
    "expected #{this} to exist",
    "expected #{this} to not exist"
  );
}
__name(assertExist, "assertExist");
Assertion.addProperty("exist", assertExist);
Assertion.addProperty("exists", assertExist);
Assertion.addProperty("empty", function() {
  let val = flag2(this, "object"), ssfi = flag2(this, "ssfi"), flagMsg = flag2(this, "message"), itemsCount;
  flagMsg = flagMsg ? flagMsg + ": " : "";
  switch (type(val).toLowerCase()) {
    case "array":
    case "string":
      itemsCount = val.length;
      break;
    case "map":
    case "set":
      itemsCount = val.size;
      break;
    case "weakmap":
    case "weakset":
      throw new AssertionError(
        flagMsg + ".empty was passed a weak collection",
        void 0,
        ssfi
      );
    case "function": {
      const msg = flagMsg + ".empty was passed a function " + getName(val);
      throw new AssertionError(msg.trim(), void 0, ssfi);
    }
    default:
      if (val !== Object(val)) {
        throw new AssertionError(
          flagMsg + ".empty was passed non-string primitive " + inspect2(val),
          void 0,
          ssfi
        );
      }
      itemsCount = Object.keys(val).length;
  }
  this.assert(
    0 === itemsCount,
    "expected #{this} to be empty",
    "expected #{this} not to be empty"
  );
});
function checkArguments() {
  let obj = flag2(this, "object"), type3 = type(obj);
  this.assert(
    "Arguments" === type3,
    "expected #{this} to be arguments but got " + type3,
    "expected #{this} to not be arguments"
  );
}
__name(checkArguments, "checkArguments");
Assertion.addProperty("arguments", checkArguments);
Assertion.addProperty("Arguments", checkArguments);
function assertEqual(val, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object");
  if (flag2(this, "deep")) {
    let prevLockSsfi = flag2(this, "lockSsfi");
    flag2(this, "lockSsfi", true);
    this.eql(val);
    flag2(this, "lockSsfi", prevLockSsfi);
  } else {
    this.assert(
      val === obj,
      "expected #{this} to equal #{exp}",
      "expected #{this} to not equal #{exp}",
      val,
      this._obj,
      true
    );
  }
}
__name(assertEqual, "assertEqual");
Assertion.addMethod("equal", assertEqual);
Assertion.addMethod("equals", assertEqual);
Assertion.addMethod("eq", assertEqual);
function assertEql(obj, msg) {
  if (msg) flag2(this, "message", msg);
  let eql = flag2(this, "eql");
  this.assert(
    eql(obj, flag2(this, "object")),
    "expected #{this} to deeply equal #{exp}",
    "expected #{this} to not deeply equal #{exp}",
    obj,
    this._obj,
    true
  );
}
__name(assertEql, "assertEql");
Assertion.addMethod("eql", assertEql);
Assertion.addMethod("eqls", assertEql);
function assertAbove(n, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), doLength = flag2(this, "doLength"), flagMsg = flag2(this, "message"), msgPrefix = flagMsg ? flagMsg + ": " : "", ssfi = flag2(this, "ssfi"), objType = type(obj).toLowerCase(), nType = type(n).toLowerCase();
  if (doLength && objType !== "map" && objType !== "set") {
    new Assertion(obj, flagMsg, ssfi, true).to.have.property("length");
  }
  if (!doLength && objType === "date" && nType !== "date") {
    throw new AssertionError(
      msgPrefix + "the argument to above must be a date",
      void 0,
      ssfi
    );
  } else if (!isNumeric(n) && (doLength || isNumeric(obj))) {
    throw new AssertionError(
      msgPrefix + "the argument to above must be a number",
      void 0,
      ssfi
    );
  } else if (!doLength && objType !== "date" && !isNumeric(obj)) {
    let printObj = objType === "string" ? "'" + obj + "'" : obj;
    throw new AssertionError(
      msgPrefix + "expected " + printObj + " to be a number or a date",
      void 0,
      ssfi
    );
  }
  if (doLength) {
    let descriptor = "length", itemsCount;
    if (objType === "map" || objType === "set") {
      descriptor = "size";
      itemsCount = obj.size;
    } else {
      itemsCount = obj.length;
    }
    this.assert(
      itemsCount > n,
      "expected #{this} to have a " + descriptor + " above #{exp} but got #{act}",
      "expected #{this} to not have a " + descriptor + " above #{exp}",
      n,
      itemsCount
    );
  } else {
    this.assert(
      obj > n,
      "expected #{this} to be above #{exp}",
      "expected #{this} to be at most #{exp}",
      n
    );
  }
}
__name(assertAbove, "assertAbove");
Assertion.addMethod("above", assertAbove);
Assertion.addMethod("gt", assertAbove);
Assertion.addMethod("greaterThan", assertAbove);
function assertLeast(n, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), doLength = flag2(this, "doLength"), flagMsg = flag2(this, "message"), msgPrefix = flagMsg ? flagMsg + ": " : "", ssfi = flag2(this, "ssfi"), objType = type(obj).toLowerCase(), nType = type(n).toLowerCase(), errorMessage, shouldThrow = true;
  if (doLength && objType !== "map" && objType !== "set") {
    new Assertion(obj, flagMsg, ssfi, true).to.have.property("length");
  }
  if (!doLength && objType === "date" && nType !== "date") {
    errorMessage = msgPrefix + "the argument to least must be a date";
  } else if (!isNumeric(n) && (doLength || isNumeric(obj))) {
    errorMessage = msgPrefix + "the argument to least must be a number";
  } else if (!doLength && objType !== "date" && !isNumeric(obj)) {
    let printObj = objType === "string" ? "'" + obj + "'" : obj;
    errorMessage = msgPrefix + "expected " + printObj + " to be a number or a date";
  } else {
    shouldThrow = false;
  }
  if (shouldThrow) {
    throw new AssertionError(errorMessage, void 0, ssfi);
  }
  if (doLength) {
    let descriptor = "length", itemsCount;
    if (objType === "map" || objType === "set") {
      descriptor = "size";
      itemsCount = obj.size;
    } else {
      itemsCount = obj.length;
    }
    this.assert(
      itemsCount >= n,
      "expected #{this} to have a " + descriptor + " at least #{exp} but got #{act}",
      "expected #{this} to have a " + descriptor + " below #{exp}",
      n,
      itemsCount
    );
  } else {
    this.assert(
      obj >= n,
      "expected #{this} to be at least #{exp}",
      "expected #{this} to be below #{exp}",
      n
    );
  }
}
__name(assertLeast, "assertLeast");
Assertion.addMethod("least", assertLeast);
Assertion.addMethod("gte", assertLeast);
Assertion.addMethod("greaterThanOrEqual", assertLeast);
function assertBelow(n, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), doLength = flag2(this, "doLength"), flagMsg = flag2(this, "message"), msgPrefix = flagMsg ? flagMsg + ": " : "", ssfi = flag2(this, "ssfi"), objType = type(obj).toLowerCase(), nType = type(n).toLowerCase(), errorMessage, shouldThrow = true;
  if (doLength && objType !== "map" && objType !== "set") {
    new Assertion(obj, flagMsg, ssfi, true).to.have.property("length");
  }
  if (!doLength && objType === "date" && nType !== "date") {
    errorMessage = msgPrefix + "the argument to below must be a date";
  } else if (!isNumeric(n) && (doLength || isNumeric(obj))) {
    errorMessage = msgPrefix + "the argument to below must be a number";
  } else if (!doLength && objType !== "date" && !isNumeric(obj)) {
    let printObj = objType === "string" ? "'" + obj + "'" : obj;
    errorMessage = msgPrefix + "expected " + printObj + " to be a number or a date";
  } else {
    shouldThrow = false;
  }
  if (shouldThrow) {
    throw new AssertionError(errorMessage, void 0, ssfi);
  }
  if (doLength) {
    let descriptor = "length", itemsCount;
    if (objType === "map" || objType === "set") {
      descriptor = "size";
      itemsCount = obj.size;
    } else {
      itemsCount = obj.length;
    }
    this.assert(
      itemsCount < n,
      "expected #{this} to have a " + descriptor + " below #{exp} but got #{act}",
      "expected #{this} to not have a " + descriptor + " below #{exp}",
      n,
      itemsCount
    );
  } else {
    this.assert(
      obj < n,
      "expected #{this} to be below #{exp}",
      "expected #{this} to be at least #{exp}",
      n
    );
  }
}
__name(assertBelow, "assertBelow");
Assertion.addMethod("below", assertBelow);
Assertion.addMethod("lt", assertBelow);
Assertion.addMethod("lessThan", assertBelow);
function assertMost(n, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), doLength = flag2(this, "doLength"), flagMsg = flag2(this, "message"), msgPrefix = flagMsg ? flagMsg + ": " : "", ssfi = flag2(this, "ssfi"), objType = type(obj).toLowerCase(), nType = type(n).toLowerCase(), errorMessage, shouldThrow = true;
  if (doLength && objType !== "map" && objType !== "set") {
    new Assertion(obj, flagMsg, ssfi, true).to.have.property("length");
  }
  if (!doLength && objType === "date" && nType !== "date") {
    errorMessage = msgPrefix + "the argument to most must be a date";
  } else if (!isNumeric(n) && (doLength || isNumeric(obj))) {
    errorMessage = msgPrefix + "the argument to most must be a number";
  } else if (!doLength && objType !== "date" && !isNumeric(obj)) {
    let printObj = objType === "string" ? "'" + obj + "'" : obj;
    errorMessage = msgPrefix + "expected " + printObj + " to be a number or a date";
  } else {
    shouldThrow = false;
  }
  if (shouldThrow) {
    throw new AssertionError(errorMessage, void 0, ssfi);
  }
  if (doLength) {
    let descriptor = "length", itemsCount;
    if (objType === "map" || objType === "set") {
      descriptor = "size";
      itemsCount = obj.size;
    } else {
      itemsCount = obj.length;
    }
    this.assert(
      itemsCount <= n,
      "expected #{this} to have a " + descriptor + " at most #{exp} but got #{act}",
      "expected #{this} to have a " + descriptor + " above #{exp}",
      n,
      itemsCount
    );
  } else {
    this.assert(
      obj <= n,
      "expected #{this} to be at most #{exp}",
      "expected #{this} to be above #{exp}",
      n
    );
  }
}
__name(assertMost, "assertMost");
Assertion.addMethod("most", assertMost);
Assertion.addMethod("lte", assertMost);
Assertion.addMethod("lessThanOrEqual", assertMost);
Assertion.addMethod("within", function(start, finish, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), doLength = flag2(this, "doLength"), flagMsg = flag2(this, "message"), msgPrefix = flagMsg ? flagMsg + ": " : "", ssfi = flag2(this, "ssfi"), objType = type(obj).toLowerCase(), startType = type(start).toLowerCase(), finishType = type(finish).toLowerCase(), errorMessage, shouldThrow = true, range = startType === "date" && finishType === "date" ? start.toISOString() + ".." + finish.toISOString() : start + ".." + finish;
  if (doLength && objType !== "map" && objType !== "set") {
    new Assertion(obj, flagMsg, ssfi, true).to.have.property("length");
  }
  if (!doLength && objType === "date" && (startType !== "date" || finishType !== "date")) {
    errorMessage = msgPrefix + "the arguments to within must be dates";
  } else if ((!isNumeric(start) || !isNumeric(finish)) && (doLength || isNumeric(obj))) {
    errorMessage = msgPrefix + "the arguments to within must be numbers";
  } else if (!doLength && objType !== "date" && !isNumeric(obj)) {
    let printObj = objType === "string" ? "'" + obj + "'" : obj;
    errorMessage = msgPrefix + "expected " + printObj + " to be a number or a date";
  } else {
    shouldThrow = false;
  }
  if (shouldThrow) {
    throw new AssertionError(errorMessage, void 0, ssfi);
  }
  if (doLength) {
    let descriptor = "length", itemsCount;
    if (objType === "map" || objType === "set") {
      descriptor = "size";
      itemsCount = obj.size;
    } else {
      itemsCount = obj.length;
    }
    this.assert(
      itemsCount >= start && itemsCount <= finish,
      "expected #{this} to have a " + descriptor + " within " + range,
      "expected #{this} to not have a " + descriptor + " within " + range
    );
  } else {
    this.assert(
      obj >= start && obj <= finish,
      "expected #{this} to be within " + range,
      "expected #{this} to not be within " + range
    );
  }
});
function assertInstanceOf(constructor, msg) {
  if (msg) flag2(this, "message", msg);
  let target = flag2(this, "object");
  let ssfi = flag2(this, "ssfi");
  let flagMsg = flag2(this, "message");
  let isInstanceOf;
  try {
    isInstanceOf = target instanceof constructor;
  } catch (err) {
    if (err instanceof TypeError) {
      flagMsg = flagMsg ? flagMsg + ": " : "";
      throw new AssertionError(
        flagMsg + "The instanceof assertion needs a constructor but " + type(constructor) + " was given.",
        void 0,
        ssfi
      );
    }
    throw err;
  }
  let name = getName(constructor);
  if (name == null) {
    name = "an unnamed constructor";
  }
  this.assert(
    isInstanceOf,
    "expected #{this} to be an instance of " + name,
    "expected #{this} to not be an instance of " + name
  );
}
__name(assertInstanceOf, "assertInstanceOf");
Assertion.addMethod("instanceof", assertInstanceOf);
Assertion.addMethod("instanceOf", assertInstanceOf);
function assertProperty(name, val, msg) {
  if (msg) flag2(this, "message", msg);
  let isNested = flag2(this, "nested"), isOwn = flag2(this, "own"), flagMsg = flag2(this, "message"), obj = flag2(this, "object"), ssfi = flag2(this, "ssfi"), nameType = typeof name;
  flagMsg = flagMsg ? flagMsg + ": " : "";
  if (isNested) {
    if (nameType !== "string") {
      throw new AssertionError(
        flagMsg + "the argument to property must be a string when using nested syntax",
        void 0,
        ssfi
      );
    }
  } else {
    if (nameType !== "string" && nameType !== "number" && nameType !== "symbol") {
      throw new AssertionError(
        flagMsg + "the argument to property must be a string, number, or symbol",
        void 0,
        ssfi
      );
    }
  }
  if (isNested && isOwn) {
    throw new AssertionError(
      flagMsg + 'The "nested" and "own" flags cannot be combined.',
      void 0,
      ssfi
    );
  }
  if (obj === null || obj === void 0) {
    throw new AssertionError(
      flagMsg + "Target cannot be null or undefined.",
      void 0,
      ssfi
    );
  }
  let isDeep = flag2(this, "deep"), negate = flag2(this, "negate"), pathInfo = isNested ? getPathInfo(obj, name) : null, value = isNested ? pathInfo.value : obj[name], isEql = isDeep ? flag2(this, "eql") : (val1, val2) => val1 === val2;
  let descriptor = "";
  if (isDeep) descriptor += "deep ";
  if (isOwn) descriptor += "own ";
  if (isNested) descriptor += "nested ";
  descriptor += "property ";
  let hasProperty2;
  if (isOwn) hasProperty2 = Object.prototype.hasOwnProperty.call(obj, name);
  else if (isNested) hasProperty2 = pathInfo.exists;
  else hasProperty2 = hasProperty(obj, name);
  if (!negate || arguments.length === 1) {
    this.assert(
      hasProperty2,
      "expected #{this} to have " + descriptor + inspect2(name),
      "expected #{this} to not have " + descriptor + inspect2(name)
    );
  }
  if (arguments.length > 1) {
    this.assert(
      hasProperty2 && isEql(val, value),
      "expected #{this} to have " + descriptor + inspect2(name) + " of #{exp}, but got #{act}",
      "expected #{this} to not have " + descriptor + inspect2(name) + " of #{act}",
      val,
      value
    );
  }
  flag2(this, "object", value);
}
__name(assertProperty, "assertProperty");
Assertion.addMethod("property", assertProperty);
function assertOwnProperty(_name, _value, _msg) {
  flag2(this, "own", true);
  assertProperty.apply(this, arguments);
}
__name(assertOwnProperty, "assertOwnProperty");
Assertion.addMethod("ownProperty", assertOwnProperty);
Assertion.addMethod("haveOwnProperty", assertOwnProperty);
function assertOwnPropertyDescriptor(name, descriptor, msg) {
  if (typeof descriptor === "string") {
    msg = descriptor;
    descriptor = null;
  }
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object");
  let actualDescriptor = Object.getOwnPropertyDescriptor(Object(obj), name);
  let eql = flag2(this, "eql");
  if (actualDescriptor && descriptor) {
    this.assert(
      eql(descriptor, actualDescriptor),
      "expected the own property descriptor for " + inspect2(name) + " on #{this} to match " + inspect2(descriptor) + ", got " + inspect2(actualDescriptor),
      "expected the own property descriptor for " + inspect2(name) + " on #{this} to not match " + inspect2(descriptor),
      descriptor,
      actualDescriptor,
      true
    );
  } else {
    this.assert(
      actualDescriptor,
      "expected #{this} to have an own property descriptor for " + inspect2(name),
      "expected #{this} to not have an own property descriptor for " + inspect2(name)
    );
  }
  flag2(this, "object", actualDescriptor);
}
__name(assertOwnPropertyDescriptor, "assertOwnPropertyDescriptor");
Assertion.addMethod("ownPropertyDescriptor", assertOwnPropertyDescriptor);
Assertion.addMethod("haveOwnPropertyDescriptor", assertOwnPropertyDescriptor);
function assertLengthChain() {
  flag2(this, "doLength", true);
}
__name(assertLengthChain, "assertLengthChain");
function assertLength(n, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), objType = type(obj).toLowerCase(), flagMsg = flag2(this, "message"), ssfi = flag2(this, "ssfi"), descriptor = "length", itemsCount;
  switch (objType) {
    case "map":
    case "set":
      descriptor = "size";
      itemsCount = obj.size;
      break;
    default:
      new Assertion(obj, flagMsg, ssfi, true).to.have.property("length");
      itemsCount = obj.length;
  }
  this.assert(
    itemsCount == n,
    "expected #{this} to have a " + descriptor + " of #{exp} but got #{act}",
    "expected #{this} to not have a " + descriptor + " of #{act}",
    n,
    itemsCount
  );
}
__name(assertLength, "assertLength");
Assertion.addChainableMethod("length", assertLength, assertLengthChain);
Assertion.addChainableMethod("lengthOf", assertLength, assertLengthChain);
function assertMatch(re, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object");
  this.assert(
    re.exec(obj),
    "expected #{this} to match " + re,
    "expected #{this} not to match " + re
  );
}
__name(assertMatch, "assertMatch");
Assertion.addMethod("match", assertMatch);
Assertion.addMethod("matches", assertMatch);
Assertion.addMethod("string", function(str, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), flagMsg = flag2(this, "message"), ssfi = flag2(this, "ssfi");
  new Assertion(obj, flagMsg, ssfi, true).is.a("string");
  this.assert(
    ~obj.indexOf(str),
    "expected #{this} to contain " + inspect2(str),
    "expected #{this} to not contain " + inspect2(str)
  );
});
function assertKeys(keys2) {
  let obj = flag2(this, "object"), objType = type(obj), keysType = type(keys2), ssfi = flag2(this, "ssfi"), isDeep = flag2(this, "deep"), str, deepStr = "", actual, ok = true, flagMsg = flag2(this, "message");
  flagMsg = flagMsg ? flagMsg + ": " : "";
  let mixedArgsMsg = flagMsg + "when testing keys against an object or an array you must give a single Array|Object|String argument or multiple String arguments";
  if (objType === "Map" || objType === "Set") {
    deepStr = isDeep ? "deeply " : "";
    actual = [];
    obj.forEach(function(val, key) {
      actual.push(key);
    });
    if (keysType !== "Array") {
      keys2 = Array.prototype.slice.call(arguments);
    }
  } else {
    actual = getOwnEnumerableProperties(obj);
    switch (keysType) {
      case "Array":
        if (arguments.length > 1) {
          throw new AssertionError(mixedArgsMsg, void 0, ssfi);
        }
        break;
      case "Object":
        if (arguments.length > 1) {
          throw new AssertionError(mixedArgsMsg, void 0, ssfi);
        }
        keys2 = Object.keys(keys2);
        break;
      default:
        keys2 = Array.prototype.slice.call(arguments);
    }
    keys2 = keys2.map(function(val) {
      return typeof val === "symbol" ? val : String(val);
    });
  }
  if (!keys2.length) {
    throw new AssertionError(flagMsg + "keys required", void 0, ssfi);
  }
  let len = keys2.length, any = flag2(this, "any"), all2 = flag2(this, "all"), expected = keys2, isEql = isDeep ? flag2(this, "eql") : (val1, val2) => val1 === val2;
  if (!any && !all2) {
    all2 = true;
  }
  const uniqueExpected = [...new Set(expected)];
  if (any) {
    ok = uniqueExpected.some(function(expectedKey) {
      return actual.some(function(actualKey) {
        return isEql(expectedKey, actualKey);
      });
    });
  }
  if (all2) {
    ok = uniqueExpected.every(function(expectedKey) {
      return actual.some(function(actualKey) {
        return isEql(expectedKey, actualKey);
      });
    });
    if (!flag2(this, "contains")) {
      ok = ok && uniqueExpected.length == actual.length;
    }
  }
  if (len > 1) {
    keys2 = keys2.map(function(key) {
      return inspect2(key);
    });
    let last = keys2.pop();
    if (all2) {
      str = keys2.join(", ") + ", and " + last;
    }
    if (any) {
      str = keys2.join(", ") + ", or " + last;
    }
  } else {
    str = inspect2(keys2[0]);
  }
  str = (len > 1 ? "keys " : "key ") + str;
  str = (flag2(this, "contains") ? "contain " : "have ") + str;
  this.assert(
    ok,
    "expected #{this} to " + deepStr + str,
    "expected #{this} to not " + deepStr + str,
    expected.slice(0).sort(compareByInspect),
    actual.sort(compareByInspect),
    true
  );
}
__name(assertKeys, "assertKeys");
Assertion.addMethod("keys", assertKeys);
Assertion.addMethod("key", assertKeys);
function assertThrows(errorLike, errMsgMatcher, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), ssfi = flag2(this, "ssfi"), flagMsg = flag2(this, "message"), negate = flag2(this, "negate") || false;
  new Assertion(obj, flagMsg, ssfi, true).is.a("function");
  if (isRegExp2(errorLike) || typeof errorLike === "string") {
    errMsgMatcher = errorLike;
    errorLike = null;
  }
  let caughtErr;
  let errorWasThrown = false;
  try {
    obj();
  } catch (err) {
    errorWasThrown = true;
    caughtErr = err;
  }
  let everyArgIsUndefined = errorLike === void 0 && errMsgMatcher === void 0;
  let everyArgIsDefined = Boolean(errorLike && errMsgMatcher);
  let errorLikeFail = false;
  let errMsgMatcherFail = false;
  if (everyArgIsUndefined || !everyArgIsUndefined && !negate) {
    let errorLikeString = "an error";
    if (errorLike instanceof Error) {
      errorLikeString = "#{exp}";
    } else if (errorLike) {
      errorLikeString = check_error_exports.getConstructorName(errorLike);
    }
    let actual = caughtErr;
    if (caughtErr instanceof Error) {
      actual = caughtErr.toString();
    } else if (typeof caughtErr === "string") {
      actual = caughtErr;
    } else if (caughtErr && (typeof caughtErr === "object" || typeof caughtErr === "function")) {
      try {
        actual = check_error_exports.getConstructorName(caughtErr);
      } catch (_err) {
      }
    }
    this.assert(
      errorWasThrown,
      "expected #{this} to throw " + errorLikeString,
      "expected #{this} to not throw an error but #{act} was thrown",
      errorLike && errorLike.toString(),
      actual
    );
  }
  if (errorLike && caughtErr) {
    if (errorLike instanceof Error) {
      let isCompatibleInstance = check_error_exports.compatibleInstance(
        caughtErr,
        errorLike
      );
      if (isCompatibleInstance === negate) {
        if (everyArgIsDefined && negate) {
          errorLikeFail = true;
        } else {
          this.assert(
            negate,
            "expected #{this} to throw #{exp} but #{act} was thrown",
            "expected #{this} to not throw #{exp}" + (caughtErr && !negate ? " but #{act} was thrown" : ""),
            errorLike.toString(),
            caughtErr.toString()
          );
        }
      }
    }
    let isCompatibleConstructor = check_error_exports.compatibleConstructor(
      caughtErr,
      errorLike
    );
    if (isCompatibleConstructor === negate) {
      if (everyArgIsDefined && negate) {
        errorLikeFail = true;
      } else {
        this.assert(
          negate,
          "expected #{this} to throw #{exp} but #{act} was thrown",
          "expected #{this} to not throw #{exp}" + (caughtErr ? " but #{act} was thrown" : ""),
          errorLike instanceof Error ? errorLike.toString() : errorLike && check_error_exports.getConstructorName(errorLike),
          caughtErr instanceof Error ? caughtErr.toString() : caughtErr && check_error_exports.getConstructorName(caughtErr)
        );
      }
    }
  }
  if (caughtErr && errMsgMatcher !== void 0 && errMsgMatcher !== null) {
    let placeholder = "including";
    if (isRegExp2(errMsgMatcher)) {
      placeholder = "matching";
    }
    let isCompatibleMessage = check_error_exports.compatibleMessage(
      caughtErr,
      errMsgMatcher
    );
    if (isCompatibleMessage === negate) {
      if (everyArgIsDefined && negate) {
        errMsgMatcherFail = true;
      } else {
        this.assert(
          negate,
          "expected #{this} to throw error " + placeholder + " #{exp} but got #{act}",
          "expected #{this} to throw error not " + placeholder + " #{exp}",
          errMsgMatcher,
          check_error_exports.getMessage(caughtErr)
        );
      }
    }
  }
  if (errorLikeFail && errMsgMatcherFail) {
    this.assert(
      negate,
      "expected #{this} to throw #{exp} but #{act} was thrown",
      "expected #{this} to not throw #{exp}" + (caughtErr ? " but #{act} was thrown" : ""),
      errorLike instanceof Error ? errorLike.toString() : errorLike && check_error_exports.getConstructorName(errorLike),
      caughtErr instanceof Error ? caughtErr.toString() : caughtErr && check_error_exports.getConstructorName(caughtErr)
    );
  }
  flag2(this, "object", caughtErr);
}
__name(assertThrows, "assertThrows");
Assertion.addMethod("throw", assertThrows);
Assertion.addMethod("throws", assertThrows);
Assertion.addMethod("Throw", assertThrows);
function respondTo(method, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), itself = flag2(this, "itself"), context = "function" === typeof obj && !itself ? obj.prototype[method] : obj[method];
  this.assert(
    "function" === typeof context,
    "expected #{this} to respond to " + inspect2(method),
    "expected #{this} to not respond to " + inspect2(method)
  );
}
__name(respondTo, "respondTo");
Assertion.addMethod("respondTo", respondTo);
Assertion.addMethod("respondsTo", respondTo);
Assertion.addProperty("itself", function() {
  flag2(this, "itself", true);
});
function satisfy(matcher, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object");
  let result = matcher(obj);
  this.assert(
    result,
    "expected #{this} to satisfy " + objDisplay(matcher),
    "expected #{this} to not satisfy" + objDisplay(matcher),
    flag2(this, "negate") ? false : true,
    result
  );
}
__name(satisfy, "satisfy");
Assertion.addMethod("satisfy", satisfy);
Assertion.addMethod("satisfies", satisfy);
function closeTo(expected, delta, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), flagMsg = flag2(this, "message"), ssfi = flag2(this, "ssfi");
  new Assertion(obj, flagMsg, ssfi, true).is.numeric;
  let message = "A `delta` value is required for `closeTo`";
  if (delta == void 0) {
    throw new AssertionError(
      flagMsg ? `${flagMsg}: ${message}` : message,
      void 0,
      ssfi
    );
  }
  new Assertion(delta, flagMsg, ssfi, true).is.numeric;
  message = "A `expected` value is required for `closeTo`";
  if (expected == void 0) {
    throw new AssertionError(
      flagMsg ? `${flagMsg}: ${message}` : message,
      void 0,
      ssfi
    );
  }
  new Assertion(expected, flagMsg, ssfi, true).is.numeric;
  const abs = /* @__PURE__ */ __name((x) => x < 0 ? -x : x, "abs");
  const strip = /* @__PURE__ */ __name((number) => parseFloat(parseFloat(number).toPrecision(12)), "strip");
  this.assert(
    strip(abs(obj - expected)) <= delta,
    "expected #{this} to be close to " + expected + " +/- " + delta,
    "expected #{this} not to be close to " + expected + " +/- " + delta
  );
}
__name(closeTo, "closeTo");
Assertion.addMethod("closeTo", closeTo);
Assertion.addMethod("approximately", closeTo);
function isSubsetOf(_subset, _superset, cmp, contains, ordered) {
  let superset = Array.from(_superset);
  let subset = Array.from(_subset);
  if (!contains) {
    if (subset.length !== superset.length) return false;
    superset = superset.slice();
  }
  return subset.every(function(elem, idx) {
    if (ordered) return cmp ? cmp(elem, superset[idx]) : elem === superset[idx];
    if (!cmp) {
      let matchIdx = superset.indexOf(elem);
      if (matchIdx === -1) return false;
      if (!contains) superset.splice(matchIdx, 1);
      return true;
    }
    return superset.some(function(elem2, matchIdx) {
      if (!cmp(elem, elem2)) return false;
      if (!contains) superset.splice(matchIdx, 1);
      return true;
    });
  });
}
__name(isSubsetOf, "isSubsetOf");
Assertion.addMethod("members", function(subset, msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object"), flagMsg = flag2(this, "message"), ssfi = flag2(this, "ssfi");
  new Assertion(obj, flagMsg, ssfi, true).to.be.iterable;
  new Assertion(subset, flagMsg, ssfi, true).to.be.iterable;
  let contains = flag2(this, "contains");
  let ordered = flag2(this, "ordered");
  let subject, failMsg, failNegateMsg;
  if (contains) {
    subject = ordered ? "an ordered superset" : "a superset";
    failMsg = "expected #{this} to be " + subject + " of #{exp}";
    failNegateMsg = "expected #{this} to not be " + subject + " of #{exp}";
  } else {
    subject = ordered ? "ordered members" : "members";
    failMsg = "expected #{this} to have the same " + subject + " as #{exp}";
    failNegateMsg = "expected #{this} to not have the same " + subject + " as #{exp}";
  }
  let cmp = flag2(this, "deep") ? flag2(this, "eql") : void 0;
  this.assert(
    isSubsetOf(subset, obj, cmp, contains, ordered),
    failMsg,
    failNegateMsg,
    subset,
    obj,
    true
  );
});
Assertion.addProperty("iterable", function(msg) {
  if (msg) flag2(this, "message", msg);
  let obj = flag2(this, "object");
  this.assert(
    obj != void 0 && typeof obj[Symbol.iterator] === "function",
    "expected #{this} to be an iterable",
    "expected #{this} to not be an iterable",
    obj
  );
});
function oneOf(list, msg) {
  if (msg) flag2(this, "message", msg);
  let expected = flag2(this, "object"), flagMsg = flag2(this, "message"), ssfi = flag2(this, "ssfi"), contains = flag2(this, "contains"), isDeep = flag2(this, "deep"), eql = flag2(this, "eql");
  new Assertion(list, flagMsg, ssfi, true).to.be.an("array");
  if (contains) {
    this.assert(
      list.some(function(possibility) {
        return expected.indexOf(possibility) > -1 || isDeep && Array.isArray(expected) && expected.some(function(item) {
          return eql(item, possibility);
        });
      }),
      "expected #{this} to " + (isDeep ? "deeply " : "") + "contain one of #{exp}",
      "expected #{this} to not " + (isDeep ? "deeply " : "") + "contain one of #{exp}",
      list,
      expected
    );
  } else {
    if (isDeep) {
      this.assert(
        list.some(function(possibility) {
          return eql(expected, possibility);
        }),
        "expected #{this} to deeply equal one of #{exp}",
        "expected #{this} to not deeply equal one of #{exp}",
        list,
        expected
      );
    } else {
      this.assert(
        list.indexOf(expected) > -1,
        "expected #{this} to be one of #{exp}",
        "expected #{this} to not be one of #{exp}",
        list,
        expected
      );
    }
  }
}
__name(oneOf, "oneOf");
Assertion.addMethod("oneOf", oneOf);
function assertChanges(subject, prop, msg) {
  if (msg) flag2(this, "message", msg);
  const fn = (
    /** @type {() => void} */
    flag2(this, "object")
  );
  const flagMsg = flag2(this, "message");
  const ssfi = flag2(this, "ssfi");
  new Assertion(fn, flagMsg, ssfi, true).is.a("function");
  let initial;
  if (prop === null || prop === void 0) {
    new Assertion(subject, flagMsg, ssfi, true).is.a("function");
    initial = /** @type {() => unknown} */
    subject();
  } else {
    new Assertion(subject, flagMsg, ssfi, true).to.have.property(prop);
    initial = /** @type {Record<PropertyKey, unknown>} */
    subject[prop];
  }
  fn();
  let final = prop === void 0 || prop === null ? (
    /** @type {() => unknown} */
    subject()
  ) : (
    /** @type {Record<PropertyKey, unknown>} */
    subject[prop]
  );
  let msgObj = prop === void 0 || prop === null ? initial : "." + prop;
  flag2(this, "deltaMsgObj", msgObj);
  flag2(this, "initialDeltaValue", initial);
  flag2(this, "finalDeltaValue", final);
  flag2(this, "deltaBehavior", "change");
  flag2(this, "realDelta", final !== initial);
  this.assert(
    initial !== final,
    "expected " + msgObj + " to change",
    "expected " + msgObj + " to not change"
  );
}
__name(assertChanges, "assertChanges");
Assertion.addMethod("change", assertChanges);
Assertion.addMethod("changes", assertChanges);
function assertIncreases(subject, prop, msg) {
  if (msg) flag2(this, "message", msg);
  const fn = (
    /** @type {() => void} */
    flag2(this, "object")
  );
  const flagMsg = flag2(this, "message");
  const ssfi = flag2(this, "ssfi");
  new Assertion(fn, flagMsg, ssfi, true).is.a("function");
  let initial;
  if (prop === null || prop === void 0) {
    new Assertion(subject, flagMsg, ssfi, true).is.a("function");
    initial = /** @type {() => number} */
    subject();
  } else {
    new Assertion(subject, flagMsg, ssfi, true).to.have.property(prop);
    initial = /** @type {Record<PropertyKey, number>} */
    subject[prop];
  }
  new Assertion(initial, flagMsg, ssfi, true).is.a("number");
  fn();
  let final = prop === void 0 || prop === null ? (
    /** @type {() => number} */
    subject()
  ) : (
    /** @type {Record<PropertyKey, number>} */
    subject[prop]
  );
  let msgObj = prop === void 0 || prop === null ? initial : "." + prop;
  flag2(this, "deltaMsgObj", msgObj);
  flag2(this, "initialDeltaValue", initial);
  flag2(this, "finalDeltaValue", final);
  flag2(this, "deltaBehavior", "increase");
  flag2(this, "realDelta", final - initial);
  this.assert(
    final - initial > 0,
    "expected " + msgObj + " to increase",
    "expected " + msgObj + " to not increase"
  );
}
__name(assertIncreases, "assertIncreases");
Assertion.addMethod("increase", assertIncreases);
Assertion.addMethod("increases", assertIncreases);
function assertDecreases(subject, prop, msg) {
  if (msg) flag2(this, "message", msg);
  const fn = (
    /** @type {() => void} */
    flag2(this, "object")
  );
  const flagMsg = flag2(this, "message");
  const ssfi = flag2(this, "ssfi");
  new Assertion(fn, flagMsg, ssfi, true).is.a("function");
  let initial;
  if (prop === null || prop === void 0) {
    new Assertion(subject, flagMsg, ssfi, true).is.a("function");
    initial = /** @type {() => number} */
    subject();
  } else {
    new Assertion(subject, flagMsg, ssfi, true).to.have.property(prop);
    initial = /** @type {Record<PropertyKey, number>} */
    subject[prop];
  }
  new Assertion(initial, flagMsg, ssfi, true).is.a("number");
  fn();
  let final = prop === void 0 || prop === null ? (
    /** @type {() => number} */
    subject()
  ) : (
    /** @type {Record<PropertyKey, number>} */
    subject[prop]
  );
  let msgObj = prop === void 0 || prop === null ? initial : "." + prop;
  flag2(this, "deltaMsgObj", msgObj);
  flag2(this, "initialDeltaValue", initial);
  flag2(this, "finalDeltaValue", final);
  flag2(this, "deltaBehavior", "decrease");
  flag2(this, "realDelta", initial - final);
  this.assert(
    final - initial < 0,
    "expected " + msgObj + " to decrease",
    "expected " + msgObj + " to not decrease"
  );
}
__name(assertDecreases, "assertDecreases");
Assertion.addMethod("decrease", assertDecreases);
Assertion.addMethod("decreases", assertDecreases);
function assertDelta(delta, msg) {
  if (msg) flag2(this, "message", msg);
  let msgObj = flag2(this, "deltaMsgObj");
  let initial = flag2(this, "initialDeltaValue");
  let final = flag2(this, "finalDeltaValue");
  let behavior = flag2(this, "deltaBehavior");
  let realDelta = flag2(this, "realDelta");
  let expression;
  if (behavior === "change") {
    expression = Math.abs(final - initial) === Math.abs(delta);
  } else {
    expression = realDelta === Math.abs(delta);
  }
  this.assert(
    expression,
    "expected " + msgObj + " to " + behavior + " by " + delta,
    "expected " + msgObj + " to not " + behavior + " by " + delta
  );
}
__name(assertDelta, "assertDelta");
Assertion.addMethod("by", assertDelta);
Assertion.addProperty("extensible", function() {
  let obj = flag2(this, "object");
  let isExtensible = obj === Object(obj) && Object.isExtensible(obj);
  this.assert(
    isExtensible,
    "expected #{this} to be extensible",
    "expected #{this} to not be extensible"
  );
});
Assertion.addProperty("sealed", function() {
  let obj = flag2(this, "object");
  let isSealed = obj === Object(obj) ? Object.isSealed(obj) : true;
  this.assert(
    isSealed,
    "expected #{this} to be sealed",
    "expected #{this} to not be sealed"
  );
});
Assertion.addProperty("frozen", function() {
  let obj = flag2(this, "object");
  let isFrozen = obj === Object(obj) ? Object.isFrozen(obj) : true;
  this.assert(
    isFrozen,
    "expected #{this} to be frozen",
    "expected #{this} to not be frozen"
  );
});
Assertion.addProperty("finite", function(_msg) {
  let obj = flag2(this, "object");
  this.assert(
    typeof obj === "number" && isFinite(obj),
    "expected #{this} to be a finite number",
    "expected #{this} to not be a finite number"
  );
});
function compareSubset(expected, actual) {
  if (expected === actual) {
    return true;
  }
  if (typeof actual !== typeof expected) {
    return false;
  }
  if (typeof expected !== "object" || expected === null) {
    return expected === actual;
  }
  if (!actual) {
    return false;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) {
      return false;
    }
    return expected.every(function(exp) {
      return actual.some(function(act) {
        return compareSubset(exp, act);
      });
    });
  }
  if (expected instanceof Date) {
    if (actual instanceof Date) {
      return expected.getTime() === actual.getTime();
    } else {
      return false;
    }
  }
  return Object.keys(expected).every(function(key) {
    let expectedValue = expected[key];
    let actualValue = actual[key];
    if (typeof expectedValue === "object" && expectedValue !== null && actualValue !== null) {
      return compareSubset(expectedValue, actualValue);
    }
    if (typeof expectedValue === "function") {
      return expectedValue(actualValue);
    }
    return actualValue === expectedValue;
  });
}
__name(compareSubset, "compareSubset");
Assertion.addMethod("containSubset", function(expected) {
  const actual = flag(this, "object");
  const showDiff = config.showDiff;
  this.assert(
    compareSubset(expected, actual),
    "expected #{act} to contain subset #{exp}",
    "expected #{act} to not contain subset #{exp}",
    expected,
    actual,
    showDiff
  );
});
function expect(val, message) {
  return new Assertion(val, message);
}
__name(expect, "expect");
expect.fail = function(actual, expected, message, operator) {
  let msg = message;
  if (arguments.length < 2) {
    msg = /** @type {string | undefined} */
    actual;
    actual = void 0;
  }
  throw new AssertionError(
    msg || "expect.fail()",
    {
      actual,
      expected,
      operator
    },
    expect.fail
  );
};
var should_exports = {};
__export(should_exports, {
  Should: () => Should,
  should: () => should
});
function loadShould() {
  function shouldGetter() {
    if (this instanceof String || this instanceof Number || this instanceof Boolean || typeof Symbol === "function" && this instanceof Symbol || typeof BigInt === "function" && this instanceof BigInt) {
      return new Assertion(this.valueOf(), null, shouldGetter);
    }
    return new Assertion(this, null, shouldGetter);
  }
  __name(shouldGetter, "shouldGetter");
  function shouldSetter(value) {
    Object.defineProperty(this, "should", {
      value,
      enumerable: true,
      configurable: true,
      writable: true
    });
  }
  __name(shouldSetter, "shouldSetter");
  Object.defineProperty(Object.prototype, "should", {
    set: shouldSetter,
    get: shouldGetter,
    configurable: true
  });
  let should2 = {};
  should2.fail = function(actual, expected, message, operator) {
    if (arguments.length < 2) {
      message = actual;
      actual = void 0;
    }
    message = message || "should.fail()";
    throw new AssertionError(
      message,
      {
        actual,
        expected,
        operator
      },
      should2.fail
    );
  };
  should2.equal = function(actual, expected, message) {
    new Assertion(actual, message).to.equal(expected);
  };
  should2.Throw = function(fn, errt, errs, msg) {
    new Assertion(fn, msg).to.Throw(errt, errs);
  };
  should2.exist = function(val, msg) {
    new Assertion(val, msg).to.exist;
  };
  should2.not = {};
  should2.not.equal = function(actual, expected, msg) {
    new Assertion(actual, msg).to.not.equal(expected);
  };
  should2.not.Throw = function(fn, errt, errs, msg) {
    new Assertion(fn, msg).to.not.Throw(errt, errs);
  };
  should2.not.exist = function(val, msg) {
    new Assertion(val, msg).to.not.exist;
  };
  should2["throw"] = should2["Throw"];
  should2.not["throw"] = should2.not["Throw"];
  return should2;
}
__name(loadShould, "loadShould");
var should = loadShould;
var Should = loadShould;
function assert(express, errmsg) {
  let test22 = new Assertion(null, null, assert, true);
  test22.assert(express, errmsg, "[ negation message unavailable ]");
}
__name(assert, "assert");
assert.fail = function(actual, expected, message, operator) {
  if (arguments.length < 2) {
    message = actual;
    actual = void 0;
  }
  message = message || "assert.fail()";
  throw new AssertionError(
    message,
    {
      actual,
      expected,
      operator
    },
    assert.fail
  );
};
assert.isOk = function(val, msg) {
  new Assertion(val, msg, assert.isOk, true).is.ok;
};
assert.isNotOk = function(val, msg) {
  new Assertion(val, msg, assert.isNotOk, true).is.not.ok;
};
assert.equal = function(act, exp, msg) {
  let test22 = new Assertion(act, msg, assert.equal, true);
  test22.assert(
    exp == flag(test22, "object"),
    "expected #{this} to equal #{exp}",
    "expected #{this} to not equal #{act}",
    exp,
    act,
    true
  );
};
assert.notEqual = function(act, exp, msg) {
  let test22 = new Assertion(act, msg, assert.notEqual, true);
  test22.assert(
    exp != flag(test22, "object"),
    "expected #{this} to not equal #{exp}",
    "expected #{this} to equal #{act}",
    exp,
    act,
    true
  );
};
assert.strictEqual = function(act, exp, msg) {
  new Assertion(act, msg, assert.strictEqual, true).to.equal(exp);
};
assert.notStrictEqual = function(act, exp, msg) {
  new Assertion(act, msg, assert.notStrictEqual, true).to.not.equal(exp);
};
assert.deepEqual = assert.deepStrictEqual = function(act, exp, msg) {
  new Assertion(act, msg, assert.deepEqual, true).to.eql(exp);
};
assert.notDeepEqual = function(act, exp, msg) {
  new Assertion(act, msg, assert.notDeepEqual, true).to.not.eql(exp);
};
assert.isAbove = function(val, abv, msg) {
  new Assertion(val, msg, assert.isAbove, true).to.be.above(abv);
};
assert.isAtLeast = function(val, atlst, msg) {
  new Assertion(val, msg, assert.isAtLeast, true).to.be.least(atlst);
};
assert.isBelow = function(val, blw, msg) {
  new Assertion(val, msg, assert.isBelow, true).to.be.below(blw);
};
assert.isAtMost = function(val, atmst, msg) {
  new Assertion(val, msg, assert.isAtMost, true).to.be.most(atmst);
};
assert.isTrue = function(val, msg) {
  new Assertion(val, msg, assert.isTrue, true).is["true"];
};
assert.isNotTrue = function(val, msg) {
  new Assertion(val, msg, assert.isNotTrue, true).to.not.equal(true);
};
assert.isFalse = function(val, msg) {
  new Assertion(val, msg, assert.isFalse, true).is["false"];
};
assert.isNotFalse = function(val, msg) {
  new Assertion(val, msg, assert.isNotFalse, true).to.not.equal(false);
};
assert.isNull = function(val, msg) {
  new Assertion(val, msg, assert.isNull, true).to.equal(null);
};
assert.isNotNull = function(val, msg) {
  new Assertion(val, msg, assert.isNotNull, true).to.not.equal(null);
};
assert.isNaN = function(val, msg) {
  new Assertion(val, msg, assert.isNaN, true).to.be.NaN;
};
assert.isNotNaN = function(value, message) {
  new Assertion(value, message, assert.isNotNaN, true).not.to.be.NaN;
};
assert.exists = function(val, msg) {
  new Assertion(val, msg, assert.exists, true).to.exist;
};
assert.notExists = function(val, msg) {
  new Assertion(val, msg, assert.notExists, true).to.not.exist;
};
assert.isUndefined = function(val, msg) {
  new Assertion(val, msg, assert.isUndefined, true).to.equal(void 0);
};
assert.isDefined = function(val, msg) {
  new Assertion(val, msg, assert.isDefined, true).to.not.equal(void 0);
};
assert.isCallable = function(value, message) {
  new Assertion(value, message, assert.isCallable, true).is.callable;
};
assert.isNotCallable = function(value, message) {
  new Assertion(value, message, assert.isNotCallable, true).is.not.callable;
};
assert.isObject = function(val, msg) {
  new Assertion(val, msg, assert.isObject, true).to.be.a("object");
};
assert.isNotObject = function(val, msg) {
  new Assertion(val, msg, assert.isNotObject, true).to.not.be.a("object");
};
assert.isArray = function(val, msg) {
  new Assertion(val, msg, assert.isArray, true).to.be.an("array");
};
assert.isNotArray = function(val, msg) {
  new Assertion(val, msg, assert.isNotArray, true).to.not.be.an("array");
};
assert.isString = function(val, msg) {
  new Assertion(val, msg, assert.isString, true).to.be.a("string");
};
assert.isNotString = function(val, msg) {
  new Assertion(val, msg, assert.isNotString, true).to.not.be.a("string");
};
assert.isNumber = function(val, msg) {
  new Assertion(val, msg, assert.isNumber, true).to.be.a("number");
};
assert.isNotNumber = function(val, msg) {
  new Assertion(val, msg, assert.isNotNumber, true).to.not.be.a("number");
};
assert.isNumeric = function(val, msg) {
  new Assertion(val, msg, assert.isNumeric, true).is.numeric;
};
assert.isNotNumeric = function(val, msg) {
  new Assertion(val, msg, assert.isNotNumeric, true).is.not.numeric;
};
assert.isFinite = function(val, msg) {
  new Assertion(val, msg, assert.isFinite, true).to.be.finite;
};
assert.isBoolean = function(val, msg) {
  new Assertion(val, msg, assert.isBoolean, true).to.be.a("boolean");
};
assert.isNotBoolean = function(val, msg) {
  new Assertion(val, msg, assert.isNotBoolean, true).to.not.be.a("boolean");
};
assert.typeOf = function(val, type3, msg) {
  new Assertion(val, msg, assert.typeOf, true).to.be.a(type3);
};
assert.notTypeOf = function(value, type3, message) {
  new Assertion(value, message, assert.notTypeOf, true).to.not.be.a(type3);
};
assert.instanceOf = function(val, type3, msg) {
  new Assertion(val, msg, assert.instanceOf, true).to.be.instanceOf(type3);
};
assert.notInstanceOf = function(val, type3, msg) {
  new Assertion(val, msg, assert.notInstanceOf, true).to.not.be.instanceOf(
    type3
  );
};
assert.include = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.include, true).include(inc);
};
assert.notInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.notInclude, true).not.include(inc);
};
assert.deepInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.deepInclude, true).deep.include(inc);
};
assert.notDeepInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.notDeepInclude, true).not.deep.include(inc);
};
assert.nestedInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.nestedInclude, true).nested.include(inc);
};
assert.notNestedInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.notNestedInclude, true).not.nested.include(
    inc
  );
};
assert.deepNestedInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.deepNestedInclude, true).deep.nested.include(
    inc
  );
};
assert.notDeepNestedInclude = function(exp, inc, msg) {
  new Assertion(
    exp,
    msg,
    assert.notDeepNestedInclude,
    true
  ).not.deep.nested.include(inc);
};
assert.ownInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.ownInclude, true).own.include(inc);
};
assert.notOwnInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.notOwnInclude, true).not.own.include(inc);
};
assert.deepOwnInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.deepOwnInclude, true).deep.own.include(inc);
};
assert.notDeepOwnInclude = function(exp, inc, msg) {
  new Assertion(exp, msg, assert.notDeepOwnInclude, true).not.deep.own.include(
    inc
  );
};
assert.match = function(exp, re, msg) {
  new Assertion(exp, msg, assert.match, true).to.match(re);
};
assert.notMatch = function(exp, re, msg) {
  new Assertion(exp, msg, assert.notMatch, true).to.not.match(re);
};
assert.property = function(obj, prop, msg) {
  new Assertion(obj, msg, assert.property, true).to.have.property(prop);
};
assert.notProperty = function(obj, prop, msg) {
  new Assertion(obj, msg, assert.notProperty, true).to.not.have.property(prop);
};
assert.propertyVal = function(obj, prop, val, msg) {
  new Assertion(obj, msg, assert.propertyVal, true).to.have.property(prop, val);
};
assert.notPropertyVal = function(obj, prop, val, msg) {
  new Assertion(obj, msg, assert.notPropertyVal, true).to.not.have.property(
    prop,
    val
  );
};
assert.deepPropertyVal = function(obj, prop, val, msg) {
  new Assertion(obj, msg, assert.deepPropertyVal, true).to.have.deep.property(
    prop,
    val
  );
};
assert.notDeepPropertyVal = function(obj, prop, val, msg) {
  new Assertion(
    obj,
    msg,
    assert.notDeepPropertyVal,
    true
  ).to.not.have.deep.property(prop, val);
};
assert.ownProperty = function(obj, prop, msg) {
  new Assertion(obj, msg, assert.ownProperty, true).to.have.own.property(prop);
};
assert.notOwnProperty = function(obj, prop, msg) {
  new Assertion(obj, msg, assert.notOwnProperty, true).to.not.have.own.property(
    prop
  );
};
assert.ownPropertyVal = function(obj, prop, value, msg) {
  new Assertion(obj, msg, assert.ownPropertyVal, true).to.have.own.property(
    prop,
    value
  );
};
assert.notOwnPropertyVal = function(obj, prop, value, msg) {
  new Assertion(
    obj,
    msg,
    assert.notOwnPropertyVal,
    true
  ).to.not.have.own.property(prop, value);
};
assert.deepOwnPropertyVal = function(obj, prop, value, msg) {
  new Assertion(
    obj,
    msg,
    assert.deepOwnPropertyVal,
    true
  ).to.have.deep.own.property(prop, value);
};
assert.notDeepOwnPropertyVal = function(obj, prop, value, msg) {
  new Assertion(
    obj,
    msg,
    assert.notDeepOwnPropertyVal,
    true
  ).to.not.have.deep.own.property(prop, value);
};
assert.nestedProperty = function(obj, prop, msg) {
  new Assertion(obj, msg, assert.nestedProperty, true).to.have.nested.property(
    prop
  );
};
assert.notNestedProperty = function(obj, prop, msg) {
  new Assertion(
    obj,
    msg,
    assert.notNestedProperty,
    true
  ).to.not.have.nested.property(prop);
};
assert.nestedPropertyVal = function(obj, prop, val, msg) {
  new Assertion(
    obj,
    msg,
    assert.nestedPropertyVal,
    true
  ).to.have.nested.property(prop, val);
};
assert.notNestedPropertyVal = function(obj, prop, val, msg) {
  new Assertion(
    obj,
    msg,
    assert.notNestedPropertyVal,
    true
  ).to.not.have.nested.property(prop, val);
};
assert.deepNestedPropertyVal = function(obj, prop, val, msg) {
  new Assertion(
    obj,
    msg,
    assert.deepNestedPropertyVal,
    true
  ).to.have.deep.nested.property(prop, val);
};
assert.notDeepNestedPropertyVal = function(obj, prop, val, msg) {
  new Assertion(
    obj,
    msg,
    assert.notDeepNestedPropertyVal,
    true
  ).to.not.have.deep.nested.property(prop, val);
};
assert.lengthOf = function(exp, len, msg) {
  new Assertion(exp, msg, assert.lengthOf, true).to.have.lengthOf(len);
};
assert.hasAnyKeys = function(obj, keys2, msg) {
  new Assertion(obj, msg, assert.hasAnyKeys, true).to.have.any.keys(keys2);
};
assert.hasAllKeys = function(obj, keys2, msg) {
  new Assertion(obj, msg, assert.hasAllKeys, true).to.have.all.keys(keys2);
};
assert.containsAllKeys = function(obj, keys2, msg) {
  new Assertion(obj, msg, assert.containsAllKeys, true).to.contain.all.keys(
    keys2
  );
};
assert.doesNotHaveAnyKeys = function(obj, keys2, msg) {
  new Assertion(obj, msg, assert.doesNotHaveAnyKeys, true).to.not.have.any.keys(
    keys2
  );
};
assert.doesNotHaveAllKeys = function(obj, keys2, msg) {
  new Assertion(obj, msg, assert.doesNotHaveAllKeys, true).to.not.have.all.keys(
    keys2
  );
};
assert.hasAnyDeepKeys = function(obj, keys2, msg) {
  new Assertion(obj, msg, assert.hasAnyDeepKeys, true).to.have.any.deep.keys(
    keys2
  );
};
assert.hasAllDeepKeys = function(obj, keys2, msg) {
  new Assertion(obj, msg, assert.hasAllDeepKeys, true).to.have.all.deep.keys(
    keys2
  );
};
assert.containsAllDeepKeys = function(obj, keys2, msg) {
  new Assertion(
    obj,
    msg,
    assert.containsAllDeepKeys,
    true
  ).to.contain.all.deep.keys(keys2);
};
assert.doesNotHaveAnyDeepKeys = function(obj, keys2, msg) {
  new Assertion(
    obj,
    msg,
    assert.doesNotHaveAnyDeepKeys,
    true
  ).to.not.have.any.deep.keys(keys2);
};
assert.doesNotHaveAllDeepKeys = function(obj, keys2, msg) {
  new Assertion(
    obj,
    msg,
    assert.doesNotHaveAllDeepKeys,
    true
  ).to.not.have.all.deep.keys(keys2);
};
assert.throws = function(fn, errorLike, errMsgMatcher, msg) {
  if ("string" === typeof errorLike || errorLike instanceof RegExp) {
    errMsgMatcher = errorLike;
    errorLike = null;
  }
  let assertErr = new Assertion(fn, msg, assert.throws, true).to.throw(
    errorLike,
    errMsgMatcher
  );
  return flag(assertErr, "object");
};
assert.doesNotThrow = function(fn, errorLike, errMsgMatcher, message) {
  if ("string" === typeof errorLike || errorLike instanceof RegExp) {
    errMsgMatcher = errorLike;
    errorLike = null;
  }
  new Assertion(fn, message, assert.doesNotThrow, true).to.not.throw(
    errorLike,
    errMsgMatcher
  );
};
assert.operator = function(val, operator, val2, msg) {
  let ok;
  switch (operator) {
    case "==":
      ok = val == val2;
      break;
    case "===":
      ok = val === val2;
      break;
    case ">":
      ok = val > val2;
      break;
    case ">=":
      ok = val >= val2;
      break;
    case "<":
      ok = val < val2;
      break;
    case "<=":
      ok = val <= val2;
      break;
    case "!=":
      ok = val != val2;
      break;
    case "!==":
      ok = val !== val2;
      break;
    default:
      msg = msg ? msg + ": " : msg;
      throw new AssertionError(
        msg + 'Invalid operator "' + operator + '"',
        void 0,
        assert.operator
      );
  }
  let test22 = new Assertion(ok, msg, assert.operator, true);
  test22.assert(
    true === flag(test22, "object"),
    "expected " + inspect2(val) + " to be " + operator + " " + inspect2(val2),
    "expected " + inspect2(val) + " to not be " + operator + " " + inspect2(val2)
  );
};
assert.closeTo = function(act, exp, delta, msg) {
  new Assertion(act, msg, assert.closeTo, true).to.be.closeTo(exp, delta);
};
assert.approximately = function(act, exp, delta, msg) {
  new Assertion(act, msg, assert.approximately, true).to.be.approximately(
    exp,
    delta
  );
};
assert.sameMembers = function(set1, set2, msg) {
  new Assertion(set1, msg, assert.sameMembers, true).to.have.same.members(set2);
};
assert.notSameMembers = function(set1, set2, msg) {
  new Assertion(
    set1,
    msg,
    assert.notSameMembers,
    true
  ).to.not.have.same.members(set2);
};
assert.sameDeepMembers = function(set1, set2, msg) {
  new Assertion(
    set1,
    msg,
    assert.sameDeepMembers,
    true
  ).to.have.same.deep.members(set2);
};
assert.notSameDeepMembers = function(set1, set2, msg) {
  new Assertion(
    set1,
    msg,
    assert.notSameDeepMembers,
    true
  ).to.not.have.same.deep.members(set2);
};
assert.sameOrderedMembers = function(set1, set2, msg) {
  new Assertion(
    set1,
    msg,
    assert.sameOrderedMembers,
    true
  ).to.have.same.ordered.members(set2);
};
assert.notSameOrderedMembers = function(set1, set2, msg) {
  new Assertion(
    set1,
    msg,
    assert.notSameOrderedMembers,
    true
  ).to.not.have.same.ordered.members(set2);
};
assert.sameDeepOrderedMembers = function(set1, set2, msg) {
  new Assertion(
    set1,
    msg,
    assert.sameDeepOrderedMembers,
    true
  ).to.have.same.deep.ordered.members(set2);
};
assert.notSameDeepOrderedMembers = function(set1, set2, msg) {
  new Assertion(
    set1,
    msg,
    assert.notSameDeepOrderedMembers,
    true
  ).to.not.have.same.deep.ordered.members(set2);
};
assert.includeMembers = function(superset, subset, msg) {
  new Assertion(superset, msg, assert.includeMembers, true).to.include.members(
    subset
  );
};
assert.notIncludeMembers = function(superset, subset, msg) {
  new Assertion(
    superset,
    msg,
    assert.notIncludeMembers,
    true
  ).to.not.include.members(subset);
};
assert.includeDeepMembers = function(superset, subset, msg) {
  new Assertion(
    superset,
    msg,
    assert.includeDeepMembers,
    true
  ).to.include.deep.members(subset);
};
assert.notIncludeDeepMembers = function(superset, subset, msg) {
  new Assertion(
    superset,
    msg,
    assert.notIncludeDeepMembers,
    true
  ).to.not.include.deep.members(subset);
};
assert.includeOrderedMembers = function(superset, subset, msg) {
  new Assertion(
    superset,
    msg,
    assert.includeOrderedMembers,
    true
  ).to.include.ordered.members(subset);
};
assert.notIncludeOrderedMembers = function(superset, subset, msg) {
  new Assertion(
    superset,
    msg,
    assert.notIncludeOrderedMembers,
    true
  ).to.not.include.ordered.members(subset);
};
assert.includeDeepOrderedMembers = function(superset, subset, msg) {
  new Assertion(
    superset,
    msg,
    assert.includeDeepOrderedMembers,
    true
  ).to.include.deep.ordered.members(subset);
};
assert.notIncludeDeepOrderedMembers = function(superset, subset, msg) {
  new Assertion(
    superset,
    msg,
    assert.notIncludeDeepOrderedMembers,
    true
  ).to.not.include.deep.ordered.members(subset);
};
assert.oneOf = function(inList, list, msg) {
  new Assertion(inList, msg, assert.oneOf, true).to.be.oneOf(list);
};
assert.isIterable = function(obj, msg) {
  if (obj == void 0 || typeof obj[Symbol.iterator] !== "function") {
    msg = msg ? `${msg} expected ${inspect2(obj)} to be an iterable` : `expected ${inspect2(obj)} to be an iterable`;
    throw new AssertionError(msg, void 0, assert.isIterable);
  }
};
assert.changes = function(fn, obj, prop, msg) {
  if (arguments.length === 3 && typeof obj === "function") {
    msg = prop;
    prop = null;
  }
  new Assertion(fn, msg, assert.changes, true).to.change(obj, prop);
};
assert.changesBy = function(fn, obj, prop, delta, msg) {
  if (arguments.length === 4 && typeof obj === "function") {
    let tmpMsg = delta;
    delta = prop;
    msg = tmpMsg;
  } else if (arguments.length === 3) {
    delta = prop;
    prop = null;
  }
  new Assertion(fn, msg, assert.changesBy, true).to.change(obj, prop).by(delta);
};
assert.doesNotChange = function(fn, obj, prop, msg) {
  if (arguments.length === 3 && typeof obj === "function") {
    msg = prop;
    prop = null;
  }
  return new Assertion(fn, msg, assert.doesNotChange, true).to.not.change(
    obj,
    prop
  );
};
assert.changesButNotBy = function(fn, obj, prop, delta, msg) {
  if (arguments.length === 4 && typeof obj === "function") {
    let tmpMsg = delta;
    delta = prop;
    msg = tmpMsg;
  } else if (arguments.length === 3) {
    delta = prop;
    prop = null;
  }
  new Assertion(fn, msg, assert.changesButNotBy, true).to.change(obj, prop).but.not.by(delta);
};
assert.increases = function(fn, obj, prop, msg) {
  if (arguments.length === 3 && typeof obj === "function") {
    msg = prop;
    prop = null;
  }
  return new Assertion(fn, msg, assert.increases, true).to.increase(obj, prop);
};
assert.increasesBy = function(fn, obj, prop, delta, msg) {
  if (arguments.length === 4 && typeof obj === "function") {
    let tmpMsg = delta;
    delta = prop;
    msg = tmpMsg;
  } else if (arguments.length === 3) {
    delta = prop;
    prop = null;
  }
  new Assertion(fn, msg, assert.increasesBy, true).to.increase(obj, prop).by(delta);
};
assert.doesNotIncrease = function(fn, obj, prop, msg) {
  if (arguments.length === 3 && typeof obj === "function") {
    msg = prop;
    prop = null;
  }
  return new Assertion(fn, msg, assert.doesNotIncrease, true).to.not.increase(
    obj,
    prop
  );
};
assert.increasesButNotBy = function(fn, obj, prop, delta, msg) {
  if (arguments.length === 4 && typeof obj === "function") {
    let tmpMsg = delta;
    delta = prop;
    msg = tmpMsg;
  } else if (arguments.length === 3) {
    delta = prop;
    prop = null;
  }
  new Assertion(fn, msg, assert.increasesButNotBy, true).to.increase(obj, prop).but.not.by(delta);
};
assert.decreases = function(fn, obj, prop, msg) {
  if (arguments.length === 3 && typeof obj === "function") {
    msg = prop;
    prop = null;
  }
  return new Assertion(fn, msg, assert.decreases, true).to.decrease(obj, prop);
};
assert.decreasesBy = function(fn, obj, prop, delta, msg) {
  if (arguments.length === 4 && typeof obj === "function") {
    let tmpMsg = delta;
    delta = prop;
    msg = tmpMsg;
  } else if (arguments.length === 3) {
    delta = prop;
    prop = null;
  }
  new Assertion(fn, msg, assert.decreasesBy, true).to.decrease(obj, prop).by(delta);
};
assert.doesNotDecrease = function(fn, obj, prop, msg) {
  if (arguments.length === 3 && typeof obj === "function") {
    msg = prop;
    prop = null;
  }
  return new Assertion(fn, msg, assert.doesNotDecrease, true).to.not.decrease(
    obj,
    prop
  );
};
assert.doesNotDecreaseBy = function(fn, obj, prop, delta, msg) {
  if (arguments.length === 4 && typeof obj === "function") {
    let tmpMsg = delta;
    delta = prop;
    msg = tmpMsg;
  } else if (arguments.length === 3) {
    delta = prop;
    prop = null;
  }
  return new Assertion(fn, msg, assert.doesNotDecreaseBy, true).to.not.decrease(obj, prop).by(delta);
};
assert.decreasesButNotBy = function(fn, obj, prop, delta, msg) {
  if (arguments.length === 4 && typeof obj === "function") {
    let tmpMsg = delta;
    delta = prop;
    msg = tmpMsg;
  } else if (arguments.length === 3) {
    delta = prop;
    prop = null;
  }
  new Assertion(fn, msg, assert.decreasesButNotBy, true).to.decrease(obj, prop).but.not.by(delta);
};
assert.ifError = function(val) {
  if (val) {
    throw val;
  }
};
assert.isExtensible = function(obj, msg) {
  new Assertion(obj, msg, assert.isExtensible, true).to.be.extensible;
};
assert.isNotExtensible = function(obj, msg) {
  new Assertion(obj, msg, assert.isNotExtensible, true).to.not.be.extensible;
};
assert.isSealed = function(obj, msg) {
  new Assertion(obj, msg, assert.isSealed, true).to.be.sealed;
};
assert.isNotSealed = function(obj, msg) {
  new Assertion(obj, msg, assert.isNotSealed, true).to.not.be.sealed;
};
assert.isFrozen = function(obj, msg) {
  new Assertion(obj, msg, assert.isFrozen, true).to.be.frozen;
};
assert.isNotFrozen = function(obj, msg) {
  new Assertion(obj, msg, assert.isNotFrozen, true).to.not.be.frozen;
};
assert.isEmpty = function(val, msg) {
  new Assertion(val, msg, assert.isEmpty, true).to.be.empty;
};
assert.isNotEmpty = function(val, msg) {
  new Assertion(val, msg, assert.isNotEmpty, true).to.not.be.empty;
};
assert.containsSubset = function(val, exp, msg) {
  new Assertion(val, msg).to.containSubset(exp);
};
assert.doesNotContainSubset = function(val, exp, msg) {
  new Assertion(val, msg).to.not.containSubset(exp);
};
var aliases = [
  ["isOk", "ok"],
  ["isNotOk", "notOk"],
  ["throws", "throw"],
  ["throws", "Throw"],
  ["isExtensible", "extensible"],
  ["isNotExtensible", "notExtensible"],
  ["isSealed", "sealed"],
  ["isNotSealed", "notSealed"],
  ["isFrozen", "frozen"],
  ["isNotFrozen", "notFrozen"],
  ["isEmpty", "empty"],
  ["isNotEmpty", "notEmpty"],
  ["isCallable", "isFunction"],
  ["isNotCallable", "isNotFunction"],
  ["containsSubset", "containSubset"]
];
for (const [name, as] of aliases) {
  assert[as] = assert[name];
}
var used = [];
function use(fn) {
  const exports = {
    use,
    AssertionError,
    util: utils_exports,
    config,
    expect,
    assert,
    Assertion,
    ...should_exports
  };
  if (!~used.indexOf(fn)) {
    fn(exports, utils_exports);
    used.push(fn);
  }
  return exports;
}
__name(use, "use");

// ../../main/node_modules/tinyrainbow/dist/index.js
var d = (e) => String(e);
d.open = d.close = "";
var i = () => d;
var t = "\x1B[39m";
var o = "\x1B[49m";
var F = (e, r, a, n, l) => {
  let m = "", g = 0;
  do
    m += e.substring(g, n) + a, g = n + l, n = e.indexOf(r, g);
  while (~n);
  return m + e.substring(g);
};
var u = (e, r, a = e, n = e.length) => {
  let l = r.length, m = (g) => {
    let s = g + "", x = s.indexOf(r, n);
    return ~x ? e + F(s, r, a, x, l) + r : e + s + r;
  };
  return m.open = e, m.close = r, m;
};
var B = (e, r) => u(e, r, e, 5);
var c = (e) => {
  let r = e.charCodeAt(0) === 35 ? e.slice(1) : e, a = parseInt(r, 16) || 0;
  return r.length < 6 ? `${(a >> 8 & 15) * 17};${(a >> 4 & 15) * 17};${(a & 15) * 17}` : `${a >> 16 & 255};${a >> 8 & 255};${a & 255}`;
};
function y(e) {
  let r = e ? u : i;
  return {
    isColorSupported: e,
    reset: r("\x1B[0m", "\x1B[0m"),
    bold: r("\x1B[1m", "\x1B[22m", "\x1B[22m\x1B[1m"),
    dim: r("\x1B[2m", "\x1B[22m", "\x1B[22m\x1B[2m"),
    italic: r("\x1B[3m", "\x1B[23m"),
    underline: r("\x1B[4m", "\x1B[24m"),
    inverse: r("\x1B[7m", "\x1B[27m"),
    hidden: r("\x1B[8m", "\x1B[28m"),
    strikethrough: r("\x1B[9m", "\x1B[29m"),
    black: r("\x1B[30m", t),
    red: r("\x1B[31m", t),
    green: r("\x1B[32m", t),
    yellow: r("\x1B[33m", t),
    blue: r("\x1B[34m", t),
    magenta: r("\x1B[35m", t),
    cyan: r("\x1B[36m", t),
    white: r("\x1B[37m", t),
    gray: r("\x1B[90m", t),
    bgBlack: r("\x1B[40m", o),
    bgRed: r("\x1B[41m", o),
    bgGreen: r("\x1B[42m", o),
    bgYellow: r("\x1B[43m", o),
    bgBlue: r("\x1B[44m", o),
    bgMagenta: r("\x1B[45m", o),
    bgCyan: r("\x1B[46m", o),
    bgWhite: r("\x1B[47m", o),
    blackBright: r("\x1B[90m", t),
    redBright: r("\x1B[91m", t),
    greenBright: r("\x1B[92m", t),
    yellowBright: r("\x1B[93m", t),
    blueBright: r("\x1B[94m", t),
    magentaBright: r("\x1B[95m", t),
    cyanBright: r("\x1B[96m", t),
    whiteBright: r("\x1B[97m", t),
    bgBlackBright: r("\x1B[100m", o),
    bgRedBright: r("\x1B[101m", o),
    bgGreenBright: r("\x1B[102m", o),
    bgYellowBright: r("\x1B[103m", o),
    bgBlueBright: r("\x1B[104m", o),
    bgMagentaBright: r("\x1B[105m", o),
    bgCyanBright: r("\x1B[106m", o),
    bgWhiteBright: r("\x1B[107m", o),
    rgb: e ? (n, l, m) => B(`\x1B[38;2;${n};${l};${m}m`, t) : i,
    bgRgb: e ? (n, l, m) => B(`\x1B[48;2;${n};${l};${m}m`, o) : i,
    hex: e ? (n) => B(`\x1B[38;2;${c(n)}m`, t) : i,
    bgHex: e ? (n) => B(`\x1B[48;2;${c(n)}m`, o) : i
  };
}
function C() {
  let e = typeof process != "undefined" ? process : void 0, r = (e == null ? void 0 : e.env) || {}, a = r.FORCE_TTY !== "false", n = (e == null ? void 0 : e.argv) || [];
  return !("NO_COLOR" in r || n.includes("--no-color")) && ("FORCE_COLOR" in r || n.includes("--color") || (e == null ? void 0 : e.platform) === "win32" || a && r.TERM !== "dumb" || "CI" in r) || typeof window != "undefined" && !!window.chrome;
}
function h({ force: e } = {}) {
  let r = e || C();
  return y(r);
}
var b = h();
var $ = b;

// ../../main/node_modules/@vitest/pretty-format/dist/index.js
function _mergeNamespaces(n, m) {
  m.forEach(function(e) {
    e && typeof e !== "string" && !Array.isArray(e) && Object.keys(e).forEach(function(k) {
      if (k !== "default" && !(k in n)) {
        var d2 = Object.getOwnPropertyDescriptor(e, k);
        Object.defineProperty(n, k, d2.get ? d2 : {
          enumerable: true,
          get: function() {
            return e[k];
          }
        });
      }
    });
  });
  return Object.freeze(n);
}
function getKeysOfEnumerableProperties(object, compareKeys) {
  const rawKeys = Object.keys(object);
  const keys2 = compareKeys === null ? rawKeys : rawKeys.sort(compareKeys);
  if (Object.getOwnPropertySymbols) {
    for (const symbol of Object.getOwnPropertySymbols(object)) {
      if (Object.getOwnPropertyDescriptor(object, symbol).enumerable) {
        keys2.push(symbol);
      }
    }
  }
  return keys2;
}
function printIteratorEntries(iterator, config2, indentation, depth, refs, printer2, separator = ": ") {
  let result = "";
  let width = 0;
  let current = iterator.next();
  if (!current.done) {
    result += config2.spacingOuter;
    const indentationNext = indentation + config2.indent;
    while (!current.done) {
      result += indentationNext;
      if (width++ === config2.maxWidth) {
        result += "\u2026";
        break;
      }
      const name = printer2(current.value[0], config2, indentationNext, depth, refs);
      const value = printer2(current.value[1], config2, indentationNext, depth, refs);
      result += name + separator + value;
      current = iterator.next();
      if (!current.done) {
        result += `,${config2.spacingInner}`;
      } else if (!config2.min) {
        result += ",";
      }
    }
    result += config2.spacingOuter + indentation;
  }
  return result;
}
function printIteratorValues(iterator, config2, indentation, depth, refs, printer2) {
  let result = "";
  let width = 0;
  let current = iterator.next();
  if (!current.done) {
    result += config2.spacingOuter;
    const indentationNext = indentation + config2.indent;
    while (!current.done) {
      result += indentationNext;
      if (width++ === config2.maxWidth) {
        result += "\u2026";
        break;
      }
      result += printer2(current.value, config2, indentationNext, depth, refs);
      current = iterator.next();
      if (!current.done) {
        result += `,${config2.spacingInner}`;
      } else if (!config2.min) {
        result += ",";
      }
    }
    result += config2.spacingOuter + indentation;
  }
  return result;
}
function printListItems(list, config2, indentation, depth, refs, printer2) {
  let result = "";
  list = list instanceof ArrayBuffer ? new DataView(list) : list;
  const isDataView = (l) => l instanceof DataView;
  const length = isDataView(list) ? list.byteLength : list.length;
  if (length > 0) {
    result += config2.spacingOuter;
    const indentationNext = indentation + config2.indent;
    for (let i2 = 0; i2 < length; i2++) {
      result += indentationNext;
      if (i2 === config2.maxWidth) {
        result += "\u2026";
        break;
      }
      if (isDataView(list) || i2 in list) {
        result += printer2(isDataView(list) ? list.getInt8(i2) : list[i2], config2, indentationNext, depth, refs);
      }
      if (i2 < length - 1) {
        result += `,${config2.spacingInner}`;
      } else if (!config2.min) {
        result += ",";
      }
    }
    result += config2.spacingOuter + indentation;
  }
  return result;
}
function printObjectProperties(val, config2, indentation, depth, refs, printer2) {
  let result = "";
  const keys2 = getKeysOfEnumerableProperties(val, config2.compareKeys);
  if (keys2.length > 0) {
    result += config2.spacingOuter;
    const indentationNext = indentation + config2.indent;
    for (let i2 = 0; i2 < keys2.length; i2++) {
      const key = keys2[i2];
      const name = printer2(key, config2, indentationNext, depth, refs);
      const value = printer2(val[key], config2, indentationNext, depth, refs);
      result += `${indentationNext + name}: ${value}`;
      if (i2 < keys2.length - 1) {
        result += `,${config2.spacingInner}`;
      } else if (!config2.min) {
        result += ",";
      }
    }
    result += config2.spacingOuter + indentation;
  }
  return result;
}
var asymmetricMatcher = typeof Symbol === "function" && Symbol.for ? /* @__PURE__ */ Symbol.for("jest.asymmetricMatcher") : 1267621;
var SPACE$2 = " ";
var serialize$5 = (val, config2, indentation, depth, refs, printer2) => {
  const stringedValue = val.toString();
  if (stringedValue === "ArrayContaining" || stringedValue === "ArrayNotContaining") {
    if (++depth > config2.maxDepth) {
      return `[${stringedValue}]`;
    }
    return `${stringedValue + SPACE$2}[${printListItems(val.sample, config2, indentation, depth, refs, printer2)}]`;
  }
  if (stringedValue === "ObjectContaining" || stringedValue === "ObjectNotContaining") {
    if (++depth > config2.maxDepth) {
      return `[${stringedValue}]`;
    }
    return `${stringedValue + SPACE$2}{${printObjectProperties(val.sample, config2, indentation, depth, refs, printer2)}}`;
  }
  if (stringedValue === "StringMatching" || stringedValue === "StringNotMatching") {
    return stringedValue + SPACE$2 + printer2(val.sample, config2, indentation, depth, refs);
  }
  if (stringedValue === "StringContaining" || stringedValue === "StringNotContaining") {
    return stringedValue + SPACE$2 + printer2(val.sample, config2, indentation, depth, refs);
  }
  if (typeof val.toAsymmetricMatcher !== "function") {
    throw new TypeError(`Asymmetric matcher ${val.constructor.name} does not implement toAsymmetricMatcher()`);
  }
  return val.toAsymmetricMatcher();
};
var test$5 = (val) => val && val.$$typeof === asymmetricMatcher;
var plugin$5 = {
  serialize: serialize$5,
  test: test$5
};
var SPACE$1 = " ";
var OBJECT_NAMES = /* @__PURE__ */ new Set(["DOMStringMap", "NamedNodeMap"]);
var ARRAY_REGEXP = /^(?:HTML\w*Collection|NodeList)$/;
function testName(name) {
  return OBJECT_NAMES.has(name) || ARRAY_REGEXP.test(name);
}
var test$4 = (val) => val && val.constructor && !!val.constructor.name && testName(val.constructor.name);
function isNamedNodeMap(collection) {
  return collection.constructor.name === "NamedNodeMap";
}
var serialize$4 = (collection, config2, indentation, depth, refs, printer2) => {
  const name = collection.constructor.name;
  if (++depth > config2.maxDepth) {
    return `[${name}]`;
  }
  return (config2.min ? "" : name + SPACE$1) + (OBJECT_NAMES.has(name) ? `{${printObjectProperties(isNamedNodeMap(collection) ? [...collection].reduce((props, attribute) => {
    props[attribute.name] = attribute.value;
    return props;
  }, {}) : { ...collection }, config2, indentation, depth, refs, printer2)}}` : `[${printListItems([...collection], config2, indentation, depth, refs, printer2)}]`);
};
var plugin$4 = {
  serialize: serialize$4,
  test: test$4
};
function escapeHTML(str) {
  return str.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
function printProps(keys2, props, config2, indentation, depth, refs, printer2) {
  const indentationNext = indentation + config2.indent;
  const colors = config2.colors;
  return keys2.map((key) => {
    const value = props[key];
    if (typeof value === "string" && value[0] === "_" && value.startsWith("__vitest_") && value.match(/__vitest_\d+__/)) {
      return "";
    }
    let printed = printer2(value, config2, indentationNext, depth, refs);
    if (typeof value !== "string") {
      if (printed.includes("\n")) {
        printed = config2.spacingOuter + indentationNext + printed + config2.spacingOuter + indentation;
      }
      printed = `{${printed}}`;
    }
    return `${config2.spacingInner + indentation + colors.prop.open + key + colors.prop.close}=${colors.value.open}${printed}${colors.value.close}`;
  }).join("");
}
function printChildren(children, config2, indentation, depth, refs, printer2) {
  return children.map((child) => config2.spacingOuter + indentation + (typeof child === "string" ? printText(child, config2) : printer2(child, config2, indentation, depth, refs))).join("");
}
function printShadowRoot(children, config2, indentation, depth, refs, printer2) {
  if (config2.printShadowRoot === false) {
    return "";
  }
  return [`${config2.spacingOuter + indentation}#shadow-root`, printChildren(children, config2, indentation + config2.indent, depth, refs, printer2)].join("");
}
function printText(text2, config2) {
  const contentColor = config2.colors.content;
  return contentColor.open + escapeHTML(text2) + contentColor.close;
}
function printComment(comment, config2) {
  const commentColor = config2.colors.comment;
  return `${commentColor.open}<!--${escapeHTML(comment)}-->${commentColor.close}`;
}
function printElement(type3, printedProps, printedChildren, config2, indentation) {
  const tagColor = config2.colors.tag;
  return `${tagColor.open}<${type3}${printedProps && tagColor.close + printedProps + config2.spacingOuter + indentation + tagColor.open}${printedChildren ? `>${tagColor.close}${printedChildren}${config2.spacingOuter}${indentation}${tagColor.open}</${type3}` : `${printedProps && !config2.min ? "" : " "}/`}>${tagColor.close}`;
}
function printElementAsLeaf(type3, config2) {
  const tagColor = config2.colors.tag;
  return `${tagColor.open}<${type3}${tagColor.close} \u2026${tagColor.open} />${tagColor.close}`;
}
var ELEMENT_NODE = 1;
var TEXT_NODE = 3;
var COMMENT_NODE = 8;
var FRAGMENT_NODE = 11;
var ELEMENT_REGEXP = /^(?:(?:HTML|SVG)\w*)?Element$/;
function testHasAttribute(val) {
  try {
    return typeof val.hasAttribute === "function" && val.hasAttribute("is");
  } catch {
    return false;
  }
}
function testNode(val) {
  const constructorName = val.constructor.name;
  const { nodeType, tagName } = val;
  const isCustomElement = typeof tagName === "string" && tagName.includes("-") || testHasAttribute(val);
  return nodeType === ELEMENT_NODE && (ELEMENT_REGEXP.test(constructorName) || isCustomElement) || nodeType === TEXT_NODE && constructorName === "Text" || nodeType === COMMENT_NODE && constructorName === "Comment" || nodeType === FRAGMENT_NODE && constructorName === "DocumentFragment";
}
var test$3 = (val) => val?.constructor?.name && testNode(val);
function nodeIsText(node2) {
  return node2.nodeType === TEXT_NODE;
}
function nodeIsComment(node2) {
  return node2.nodeType === COMMENT_NODE;
}
function nodeIsFragment(node2) {
  return node2.nodeType === FRAGMENT_NODE;
}
function filterChildren(children, filterNode) {
  let filtered = children.filter((node2) => {
    if (node2.nodeType === TEXT_NODE) {
      const text2 = node2.data || "";
      return text2.trim().length > 0;
    }
    return true;
  });
  if (filterNode) {
    filtered = filtered.filter(filterNode);
  }
  return filtered;
}
function serializeDOM(node2, config2, indentation, depth, refs, printer2, filterNode) {
  if (nodeIsText(node2)) {
    return printText(node2.data, config2);
  }
  if (nodeIsComment(node2)) {
    return printComment(node2.data, config2);
  }
  const type3 = nodeIsFragment(node2) ? "DocumentFragment" : node2.tagName.toLowerCase();
  if (++depth > config2.maxDepth) {
    return printElementAsLeaf(type3, config2);
  }
  const children = Array.prototype.slice.call(node2.childNodes || node2.children);
  const shadowChildren = nodeIsFragment(node2) || !node2.shadowRoot ? [] : Array.prototype.slice.call(node2.shadowRoot.children);
  const resolvedChildren = filterNode ? filterChildren(children, filterNode) : children;
  const resolvedShadowChildren = filterNode ? filterChildren(shadowChildren, filterNode) : shadowChildren;
  return printElement(type3, printProps(nodeIsFragment(node2) ? [] : Array.from(node2.attributes, (attr) => attr.name).sort(), nodeIsFragment(node2) ? {} : [...node2.attributes].reduce((props, attribute) => {
    props[attribute.name] = attribute.value;
    return props;
  }, {}), config2, indentation + config2.indent, depth, refs, printer2), (resolvedShadowChildren.length > 0 ? printShadowRoot(resolvedShadowChildren, config2, indentation + config2.indent, depth, refs, printer2) : "") + printChildren(resolvedChildren, config2, indentation + config2.indent, depth, refs, printer2), config2, indentation);
}
var serialize$3 = (node2, config2, indentation, depth, refs, printer2) => serializeDOM(node2, config2, indentation, depth, refs, printer2);
function createDOMElementFilter(filterNode) {
  return {
    test: test$3,
    serialize: (node2, config2, indentation, depth, refs, printer2) => serializeDOM(node2, config2, indentation, depth, refs, printer2, filterNode)
  };
}
var plugin$3 = {
  serialize: serialize$3,
  test: test$3
};
var IS_ITERABLE_SENTINEL = "@@__IMMUTABLE_ITERABLE__@@";
var IS_LIST_SENTINEL = "@@__IMMUTABLE_LIST__@@";
var IS_KEYED_SENTINEL = "@@__IMMUTABLE_KEYED__@@";
var IS_MAP_SENTINEL = "@@__IMMUTABLE_MAP__@@";
var IS_ORDERED_SENTINEL = "@@__IMMUTABLE_ORDERED__@@";
var IS_RECORD_SENTINEL = "@@__IMMUTABLE_RECORD__@@";
var IS_SEQ_SENTINEL = "@@__IMMUTABLE_SEQ__@@";
var IS_SET_SENTINEL = "@@__IMMUTABLE_SET__@@";
var IS_STACK_SENTINEL = "@@__IMMUTABLE_STACK__@@";
var getImmutableName = (name) => `Immutable.${name}`;
var printAsLeaf = (name) => `[${name}]`;
var SPACE = " ";
var LAZY = "\u2026";
function printImmutableEntries(val, config2, indentation, depth, refs, printer2, type3) {
  return ++depth > config2.maxDepth ? printAsLeaf(getImmutableName(type3)) : `${getImmutableName(type3) + SPACE}{${printIteratorEntries(val.entries(), config2, indentation, depth, refs, printer2)}}`;
}
function getRecordEntries(val) {
  let i2 = 0;
  return { next() {
    if (i2 < val._keys.length) {
      const key = val._keys[i2++];
      return {
        done: false,
        value: [key, val.get(key)]
      };
    }
    return {
      done: true,
      value: void 0
    };
  } };
}
function printImmutableRecord(val, config2, indentation, depth, refs, printer2) {
  const name = getImmutableName(val._name || "Record");
  return ++depth > config2.maxDepth ? printAsLeaf(name) : `${name + SPACE}{${printIteratorEntries(getRecordEntries(val), config2, indentation, depth, refs, printer2)}}`;
}
function printImmutableSeq(val, config2, indentation, depth, refs, printer2) {
  const name = getImmutableName("Seq");
  if (++depth > config2.maxDepth) {
    return printAsLeaf(name);
  }
  if (val[IS_KEYED_SENTINEL]) {
    return `${name + SPACE}{${val._iter || val._object ? printIteratorEntries(val.entries(), config2, indentation, depth, refs, printer2) : LAZY}}`;
  }
  return `${name + SPACE}[${val._iter || val._array || val._collection || val._iterable ? printIteratorValues(val.values(), config2, indentation, depth, refs, printer2) : LAZY}]`;
}
function printImmutableValues(val, config2, indentation, depth, refs, printer2, type3) {
  return ++depth > config2.maxDepth ? printAsLeaf(getImmutableName(type3)) : `${getImmutableName(type3) + SPACE}[${printIteratorValues(val.values(), config2, indentation, depth, refs, printer2)}]`;
}
var serialize$2 = (val, config2, indentation, depth, refs, printer2) => {
  if (val[IS_MAP_SENTINEL]) {
    return printImmutableEntries(val, config2, indentation, depth, refs, printer2, val[IS_ORDERED_SENTINEL] ? "OrderedMap" : "Map");
  }
  if (val[IS_LIST_SENTINEL]) {
    return printImmutableValues(val, config2, indentation, depth, refs, printer2, "List");
  }
  if (val[IS_SET_SENTINEL]) {
    return printImmutableValues(val, config2, indentation, depth, refs, printer2, val[IS_ORDERED_SENTINEL] ? "OrderedSet" : "Set");
  }
  if (val[IS_STACK_SENTINEL]) {
    return printImmutableValues(val, config2, indentation, depth, refs, printer2, "Stack");
  }
  if (val[IS_SEQ_SENTINEL]) {
    return printImmutableSeq(val, config2, indentation, depth, refs, printer2);
  }
  return printImmutableRecord(val, config2, indentation, depth, refs, printer2);
};
var test$2 = (val) => val && (val[IS_ITERABLE_SENTINEL] === true || val[IS_RECORD_SENTINEL] === true);
var plugin$2 = {
  serialize: serialize$2,
  test: test$2
};
function getDefaultExportFromCjs(x) {
  return x && x.__esModule && Object.prototype.hasOwnProperty.call(x, "default") ? x["default"] : x;
}
var reactIs$1 = { exports: {} };
var reactIs_production = {};
var hasRequiredReactIs_production;
function requireReactIs_production() {
  if (hasRequiredReactIs_production) return reactIs_production;
  hasRequiredReactIs_production = 1;
  var REACT_ELEMENT_TYPE = /* @__PURE__ */ Symbol.for("react.transitional.element"), REACT_PORTAL_TYPE = /* @__PURE__ */ Symbol.for("react.portal"), REACT_FRAGMENT_TYPE = /* @__PURE__ */ Symbol.for("react.fragment"), REACT_STRICT_MODE_TYPE = /* @__PURE__ */ Symbol.for("react.strict_mode"), REACT_PROFILER_TYPE = /* @__PURE__ */ Symbol.for("react.profiler"), REACT_CONSUMER_TYPE = /* @__PURE__ */ Symbol.for("react.consumer"), REACT_CONTEXT_TYPE = /* @__PURE__ */ Symbol.for("react.context"), REACT_FORWARD_REF_TYPE = /* @__PURE__ */ Symbol.for("react.forward_ref"), REACT_SUSPENSE_TYPE = /* @__PURE__ */ Symbol.for("react.suspense"), REACT_SUSPENSE_LIST_TYPE = /* @__PURE__ */ Symbol.for("react.suspense_list"), REACT_MEMO_TYPE = /* @__PURE__ */ Symbol.for("react.memo"), REACT_LAZY_TYPE = /* @__PURE__ */ Symbol.for("react.lazy"), REACT_VIEW_TRANSITION_TYPE = /* @__PURE__ */ Symbol.for("react.view_transition"), REACT_CLIENT_REFERENCE = /* @__PURE__ */ Symbol.for("react.client.reference");
  function typeOf(object) {
    if ("object" === typeof object && null !== object) {
      var $$typeof = object.$$typeof;
      switch ($$typeof) {
        case REACT_ELEMENT_TYPE:
          switch (object = object.type, object) {
            case REACT_FRAGMENT_TYPE:
            case REACT_PROFILER_TYPE:
            case REACT_STRICT_MODE_TYPE:
            case REACT_SUSPENSE_TYPE:
            case REACT_SUSPENSE_LIST_TYPE:
            case REACT_VIEW_TRANSITION_TYPE:
              return object;
            default:
              switch (object = object && object.$$typeof, object) {
                case REACT_CONTEXT_TYPE:
                case REACT_FORWARD_REF_TYPE:
                case REACT_LAZY_TYPE:
                case REACT_MEMO_TYPE:
                  return object;
                case REACT_CONSUMER_TYPE:
                  return object;
                default:
                  return $$typeof;
              }
          }
        case REACT_PORTAL_TYPE:
          return $$typeof;
      }
    }
  }
  reactIs_production.ContextConsumer = REACT_CONSUMER_TYPE;
  reactIs_production.ContextProvider = REACT_CONTEXT_TYPE;
  reactIs_production.Element = REACT_ELEMENT_TYPE;
  reactIs_production.ForwardRef = REACT_FORWARD_REF_TYPE;
  reactIs_production.Fragment = REACT_FRAGMENT_TYPE;
  reactIs_production.Lazy = REACT_LAZY_TYPE;
  reactIs_production.Memo = REACT_MEMO_TYPE;
  reactIs_production.Portal = REACT_PORTAL_TYPE;
  reactIs_production.Profiler = REACT_PROFILER_TYPE;
  reactIs_production.StrictMode = REACT_STRICT_MODE_TYPE;
  reactIs_production.Suspense = REACT_SUSPENSE_TYPE;
  reactIs_production.SuspenseList = REACT_SUSPENSE_LIST_TYPE;
  reactIs_production.isContextConsumer = function(object) {
    return typeOf(object) === REACT_CONSUMER_TYPE;
  };
  reactIs_production.isContextProvider = function(object) {
    return typeOf(object) === REACT_CONTEXT_TYPE;
  };
  reactIs_production.isElement = function(object) {
    return "object" === typeof object && null !== object && object.$$typeof === REACT_ELEMENT_TYPE;
  };
  reactIs_production.isForwardRef = function(object) {
    return typeOf(object) === REACT_FORWARD_REF_TYPE;
  };
  reactIs_production.isFragment = function(object) {
    return typeOf(object) === REACT_FRAGMENT_TYPE;
  };
  reactIs_production.isLazy = function(object) {
    return typeOf(object) === REACT_LAZY_TYPE;
  };
  reactIs_production.isMemo = function(object) {
    return typeOf(object) === REACT_MEMO_TYPE;
  };
  reactIs_production.isPortal = function(object) {
    return typeOf(object) === REACT_PORTAL_TYPE;
  };
  reactIs_production.isProfiler = function(object) {
    return typeOf(object) === REACT_PROFILER_TYPE;
  };
  reactIs_production.isStrictMode = function(object) {
    return typeOf(object) === REACT_STRICT_MODE_TYPE;
  };
  reactIs_production.isSuspense = function(object) {
    return typeOf(object) === REACT_SUSPENSE_TYPE;
  };
  reactIs_production.isSuspenseList = function(object) {
    return typeOf(object) === REACT_SUSPENSE_LIST_TYPE;
  };
  reactIs_production.isValidElementType = function(type3) {
    return "string" === typeof type3 || "function" === typeof type3 || type3 === REACT_FRAGMENT_TYPE || type3 === REACT_PROFILER_TYPE || type3 === REACT_STRICT_MODE_TYPE || type3 === REACT_SUSPENSE_TYPE || type3 === REACT_SUSPENSE_LIST_TYPE || "object" === typeof type3 && null !== type3 && (type3.$$typeof === REACT_LAZY_TYPE || type3.$$typeof === REACT_MEMO_TYPE || type3.$$typeof === REACT_CONTEXT_TYPE || type3.$$typeof === REACT_CONSUMER_TYPE || type3.$$typeof === REACT_FORWARD_REF_TYPE || type3.$$typeof === REACT_CLIENT_REFERENCE || void 0 !== type3.getModuleId) ? true : false;
  };
  reactIs_production.typeOf = typeOf;
  return reactIs_production;
}
var hasRequiredReactIs$1;
function requireReactIs$1() {
  if (hasRequiredReactIs$1) return reactIs$1.exports;
  hasRequiredReactIs$1 = 1;
  {
    reactIs$1.exports = requireReactIs_production();
  }
  return reactIs$1.exports;
}
var reactIsExports$1 = requireReactIs$1();
var index$1 = /* @__PURE__ */ getDefaultExportFromCjs(reactIsExports$1);
var ReactIs19 = /* @__PURE__ */ _mergeNamespaces({
  __proto__: null,
  default: index$1
}, [reactIsExports$1]);
var reactIs = { exports: {} };
var reactIs_production_min = {};
var hasRequiredReactIs_production_min;
function requireReactIs_production_min() {
  if (hasRequiredReactIs_production_min) return reactIs_production_min;
  hasRequiredReactIs_production_min = 1;
  var b2 = /* @__PURE__ */ Symbol.for("react.element"), c2 = /* @__PURE__ */ Symbol.for("react.portal"), d2 = /* @__PURE__ */ Symbol.for("react.fragment"), e = /* @__PURE__ */ Symbol.for("react.strict_mode"), f = /* @__PURE__ */ Symbol.for("react.profiler"), g = /* @__PURE__ */ Symbol.for("react.provider"), h2 = /* @__PURE__ */ Symbol.for("react.context"), k = /* @__PURE__ */ Symbol.for("react.server_context"), l = /* @__PURE__ */ Symbol.for("react.forward_ref"), m = /* @__PURE__ */ Symbol.for("react.suspense"), n = /* @__PURE__ */ Symbol.for("react.suspense_list"), p = /* @__PURE__ */ Symbol.for("react.memo"), q = /* @__PURE__ */ Symbol.for("react.lazy"), t2 = /* @__PURE__ */ Symbol.for("react.offscreen"), u2;
  u2 = /* @__PURE__ */ Symbol.for("react.module.reference");
  function v(a) {
    if ("object" === typeof a && null !== a) {
      var r = a.$$typeof;
      switch (r) {
        case b2:
          switch (a = a.type, a) {
            case d2:
            case f:
            case e:
            case m:
            case n:
              return a;
            default:
              switch (a = a && a.$$typeof, a) {
                case k:
                case h2:
                case l:
                case q:
                case p:
                case g:
                  return a;
                default:
                  return r;
              }
          }
        case c2:
          return r;
      }
    }
  }
  reactIs_production_min.ContextConsumer = h2;
  reactIs_production_min.ContextProvider = g;
  reactIs_production_min.Element = b2;
  reactIs_production_min.ForwardRef = l;
  reactIs_production_min.Fragment = d2;
  reactIs_production_min.Lazy = q;
  reactIs_production_min.Memo = p;
  reactIs_production_min.Portal = c2;
  reactIs_production_min.Profiler = f;
  reactIs_production_min.StrictMode = e;
  reactIs_production_min.Suspense = m;
  reactIs_production_min.SuspenseList = n;
  reactIs_production_min.isAsyncMode = function() {
    return false;
  };
  reactIs_production_min.isConcurrentMode = function() {
    return false;
  };
  reactIs_production_min.isContextConsumer = function(a) {
    return v(a) === h2;
  };
  reactIs_production_min.isContextProvider = function(a) {
    return v(a) === g;
  };
  reactIs_production_min.isElement = function(a) {
    return "object" === typeof a && null !== a && a.$$typeof === b2;
  };
  reactIs_production_min.isForwardRef = function(a) {
    return v(a) === l;
  };
  reactIs_production_min.isFragment = function(a) {
    return v(a) === d2;
  };
  reactIs_production_min.isLazy = function(a) {
    return v(a) === q;
  };
  reactIs_production_min.isMemo = function(a) {
    return v(a) === p;
  };
  reactIs_production_min.isPortal = function(a) {
    return v(a) === c2;
  };
  reactIs_production_min.isProfiler = function(a) {
    return v(a) === f;
  };
  reactIs_production_min.isStrictMode = function(a) {
    return v(a) === e;
  };
  reactIs_production_min.isSuspense = function(a) {
    return v(a) === m;
  };
  reactIs_production_min.isSuspenseList = function(a) {
    return v(a) === n;
  };
  reactIs_production_min.isValidElementType = function(a) {
    return "string" === typeof a || "function" === typeof a || a === d2 || a === f || a === e || a === m || a === n || a === t2 || "object" === typeof a && null !== a && (a.$$typeof === q || a.$$typeof === p || a.$$typeof === g || a.$$typeof === h2 || a.$$typeof === l || a.$$typeof === u2 || void 0 !== a.getModuleId) ? true : false;
  };
  reactIs_production_min.typeOf = v;
  return reactIs_production_min;
}
var hasRequiredReactIs;
function requireReactIs() {
  if (hasRequiredReactIs) return reactIs.exports;
  hasRequiredReactIs = 1;
  {
    reactIs.exports = requireReactIs_production_min();
  }
  return reactIs.exports;
}
var reactIsExports = requireReactIs();
var index = /* @__PURE__ */ getDefaultExportFromCjs(reactIsExports);
var ReactIs18 = /* @__PURE__ */ _mergeNamespaces({
  __proto__: null,
  default: index
}, [reactIsExports]);
var reactIsMethods = [
  "isAsyncMode",
  "isConcurrentMode",
  "isContextConsumer",
  "isContextProvider",
  "isElement",
  "isForwardRef",
  "isFragment",
  "isLazy",
  "isMemo",
  "isPortal",
  "isProfiler",
  "isStrictMode",
  "isSuspense",
  "isSuspenseList",
  "isValidElementType"
];
var ReactIs = Object.fromEntries(reactIsMethods.map((m) => [m, (v) => ReactIs18[m](v) || ReactIs19[m](v)]));
function getChildren(arg, children = []) {
  if (Array.isArray(arg)) {
    for (const item of arg) {
      getChildren(item, children);
    }
  } else if (arg != null && arg !== false && arg !== "") {
    children.push(arg);
  }
  return children;
}
function getType(element) {
  const type3 = element.type;
  if (typeof type3 === "string") {
    return type3;
  }
  if (typeof type3 === "function") {
    return type3.displayName || type3.name || "Unknown";
  }
  if (ReactIs.isFragment(element)) {
    return "React.Fragment";
  }
  if (ReactIs.isSuspense(element)) {
    return "React.Suspense";
  }
  if (typeof type3 === "object" && type3 !== null) {
    if (ReactIs.isContextProvider(element)) {
      return "Context.Provider";
    }
    if (ReactIs.isContextConsumer(element)) {
      return "Context.Consumer";
    }
    if (ReactIs.isForwardRef(element)) {
      if (type3.displayName) {
        return type3.displayName;
      }
      const functionName = type3.render.displayName || type3.render.name || "";
      return functionName === "" ? "ForwardRef" : `ForwardRef(${functionName})`;
    }
    if (ReactIs.isMemo(element)) {
      const functionName = type3.displayName || type3.type.displayName || type3.type.name || "";
      return functionName === "" ? "Memo" : `Memo(${functionName})`;
    }
  }
  return "UNDEFINED";
}
function getPropKeys$1(element) {
  const { props } = element;
  return Object.keys(props).filter((key) => key !== "children" && props[key] !== void 0).sort();
}
var serialize$1 = (element, config2, indentation, depth, refs, printer2) => ++depth > config2.maxDepth ? printElementAsLeaf(getType(element), config2) : printElement(getType(element), printProps(getPropKeys$1(element), element.props, config2, indentation + config2.indent, depth, refs, printer2), printChildren(getChildren(element.props.children), config2, indentation + config2.indent, depth, refs, printer2), config2, indentation);
var test$1 = (val) => val != null && ReactIs.isElement(val);
var plugin$1 = {
  serialize: serialize$1,
  test: test$1
};
var testSymbol = typeof Symbol === "function" && Symbol.for ? /* @__PURE__ */ Symbol.for("react.test.json") : 245830487;
function getPropKeys(object) {
  const { props } = object;
  return props ? Object.keys(props).filter((key) => props[key] !== void 0).sort() : [];
}
var serialize = (object, config2, indentation, depth, refs, printer2) => ++depth > config2.maxDepth ? printElementAsLeaf(object.type, config2) : printElement(object.type, object.props ? printProps(getPropKeys(object), object.props, config2, indentation + config2.indent, depth, refs, printer2) : "", object.children ? printChildren(object.children, config2, indentation + config2.indent, depth, refs, printer2) : "", config2, indentation);
var test2 = (val) => val && val.$$typeof === testSymbol;
var plugin = {
  serialize,
  test: test2
};
var toString2 = Object.prototype.toString;
var toISOString = Date.prototype.toISOString;
var errorToString = Error.prototype.toString;
var regExpToString = RegExp.prototype.toString;
function getConstructorName2(val) {
  return typeof val.constructor === "function" && val.constructor.name || "Object";
}
function isWindow(val) {
  return typeof window !== "undefined" && val === window;
}
var SYMBOL_REGEXP = /^Symbol\((.*)\)(.*)$/;
var NEWLINE_REGEXP = /\n/g;
var PrettyFormatPluginError = class extends Error {
  constructor(message, stack2) {
    super(message);
    this.stack = stack2;
    this.name = this.constructor.name;
  }
};
function isToStringedArrayType(toStringed) {
  return toStringed === "[object Array]" || toStringed === "[object ArrayBuffer]" || toStringed === "[object DataView]" || toStringed === "[object Float32Array]" || toStringed === "[object Float64Array]" || toStringed === "[object Int8Array]" || toStringed === "[object Int16Array]" || toStringed === "[object Int32Array]" || toStringed === "[object Uint8Array]" || toStringed === "[object Uint8ClampedArray]" || toStringed === "[object Uint16Array]" || toStringed === "[object Uint32Array]";
}
function printNumber(val) {
  return Object.is(val, -0) ? "-0" : String(val);
}
function printBigInt(val) {
  return String(`${val}n`);
}
function printFunction(val, printFunctionName) {
  if (!printFunctionName) {
    return "[Function]";
  }
  return `[Function ${val.name || "anonymous"}]`;
}
function printSymbol(val) {
  return String(val).replace(SYMBOL_REGEXP, "Symbol($1)");
}
function printError(val) {
  return `[${errorToString.call(val)}]`;
}
function printBasicValue(val, printFunctionName, escapeRegex, escapeString) {
  if (val === true || val === false) {
    return `${val}`;
  }
  if (val === void 0) {
    return "undefined";
  }
  if (val === null) {
    return "null";
  }
  const typeOf = typeof val;
  if (typeOf === "number") {
    return printNumber(val);
  }
  if (typeOf === "bigint") {
    return printBigInt(val);
  }
  if (typeOf === "string") {
    if (escapeString) {
      return `"${val.replaceAll(/"|\\/g, "\\$&")}"`;
    }
    return `"${val}"`;
  }
  if (typeOf === "function") {
    return printFunction(val, printFunctionName);
  }
  if (typeOf === "symbol") {
    return printSymbol(val);
  }
  const toStringed = toString2.call(val);
  if (toStringed === "[object WeakMap]") {
    return "WeakMap {}";
  }
  if (toStringed === "[object WeakSet]") {
    return "WeakSet {}";
  }
  if (toStringed === "[object Function]" || toStringed === "[object GeneratorFunction]") {
    return printFunction(val, printFunctionName);
  }
  if (toStringed === "[object Symbol]") {
    return printSymbol(val);
  }
  if (toStringed === "[object Date]") {
    return Number.isNaN(+val) ? "Date { NaN }" : toISOString.call(val);
  }
  if (toStringed === "[object Error]") {
    return printError(val);
  }
  if (toStringed === "[object RegExp]") {
    if (escapeRegex) {
      return regExpToString.call(val).replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
    }
    return regExpToString.call(val);
  }
  if (val instanceof Error) {
    return printError(val);
  }
  return null;
}
function printComplexValue(val, config2, indentation, depth, refs, hasCalledToJSON) {
  if (refs.includes(val)) {
    return "[Circular]";
  }
  refs = [...refs];
  refs.push(val);
  const hitMaxDepth = ++depth > config2.maxDepth;
  const min = config2.min;
  if (config2.callToJSON && !hitMaxDepth && val.toJSON && typeof val.toJSON === "function" && !hasCalledToJSON) {
    return printer(val.toJSON(), config2, indentation, depth, refs, true);
  }
  const toStringed = toString2.call(val);
  if (toStringed === "[object Arguments]") {
    return hitMaxDepth ? "[Arguments]" : `${min ? "" : "Arguments "}[${printListItems(val, config2, indentation, depth, refs, printer)}]`;
  }
  if (isToStringedArrayType(toStringed)) {
    return hitMaxDepth ? `[${val.constructor.name}]` : `${min ? "" : !config2.printBasicPrototype && val.constructor.name === "Array" ? "" : `${val.constructor.name} `}[${printListItems(val, config2, indentation, depth, refs, printer)}]`;
  }
  if (toStringed === "[object Map]") {
    return hitMaxDepth ? "[Map]" : `Map {${printIteratorEntries(val.entries(), config2, indentation, depth, refs, printer, " => ")}}`;
  }
  if (toStringed === "[object Set]") {
    return hitMaxDepth ? "[Set]" : `Set {${printIteratorValues(val.values(), config2, indentation, depth, refs, printer)}}`;
  }
  return hitMaxDepth || isWindow(val) ? `[${getConstructorName2(val)}]` : `${min ? "" : !config2.printBasicPrototype && getConstructorName2(val) === "Object" ? "" : `${getConstructorName2(val)} `}{${printObjectProperties(val, config2, indentation, depth, refs, printer)}}`;
}
var ErrorPlugin = {
  test: (val) => val && val instanceof Error,
  serialize(val, config2, indentation, depth, refs, printer2) {
    if (refs.includes(val)) {
      return "[Circular]";
    }
    refs = [...refs, val];
    const hitMaxDepth = ++depth > config2.maxDepth;
    const { message, cause, ...rest } = val;
    const entries = {
      message,
      ...typeof cause !== "undefined" ? { cause } : {},
      ...val instanceof AggregateError ? { errors: val.errors } : {},
      ...rest
    };
    const name = val.name !== "Error" ? val.name : getConstructorName2(val);
    return hitMaxDepth ? `[${name}]` : `${name} {${printIteratorEntries(Object.entries(entries).values(), config2, indentation, depth, refs, printer2)}}`;
  }
};
function isNewPlugin(plugin2) {
  return plugin2.serialize != null;
}
function printPlugin(plugin2, val, config2, indentation, depth, refs) {
  let printed;
  try {
    printed = isNewPlugin(plugin2) ? plugin2.serialize(val, config2, indentation, depth, refs, printer) : plugin2.print(val, (valChild) => printer(valChild, config2, indentation, depth, refs), (str) => {
      const indentationNext = indentation + config2.indent;
      return indentationNext + str.replaceAll(NEWLINE_REGEXP, `
${indentationNext}`);
    }, {
      edgeSpacing: config2.spacingOuter,
      min: config2.min,
      spacing: config2.spacingInner
    }, config2.colors);
  } catch (error) {
    throw new PrettyFormatPluginError(error.message, error.stack);
  }
  if (typeof printed !== "string") {
    throw new TypeError(`pretty-format: Plugin must return type "string" but instead returned "${typeof printed}".`);
  }
  return printed;
}
function findPlugin(plugins3, val) {
  for (const plugin2 of plugins3) {
    try {
      if (plugin2.test(val)) {
        return plugin2;
      }
    } catch (error) {
      throw new PrettyFormatPluginError(error.message, error.stack);
    }
  }
  return null;
}
function printer(val, config2, indentation, depth, refs, hasCalledToJSON) {
  let result;
  const plugin2 = findPlugin(config2.plugins, val);
  if (plugin2 !== null) {
    result = printPlugin(plugin2, val, config2, indentation, depth, refs);
  } else {
    const basicResult = printBasicValue(val, config2.printFunctionName, config2.escapeRegex, config2.escapeString);
    if (basicResult !== null) {
      result = basicResult;
    } else {
      result = printComplexValue(val, config2, indentation, depth, refs, hasCalledToJSON);
    }
  }
  config2._outputLengthPerDepth[depth] ??= 0;
  config2._outputLengthPerDepth[depth] += result.length;
  if (config2._outputLengthPerDepth[depth] > config2.maxOutputLength) {
    config2.maxDepth = 0;
  }
  return result;
}
var DEFAULT_THEME = {
  comment: "gray",
  content: "reset",
  prop: "yellow",
  tag: "cyan",
  value: "green"
};
var DEFAULT_THEME_KEYS = Object.keys(DEFAULT_THEME);
var DEFAULT_OPTIONS = {
  callToJSON: true,
  compareKeys: void 0,
  escapeRegex: false,
  escapeString: true,
  highlight: false,
  indent: 2,
  maxDepth: Number.POSITIVE_INFINITY,
  maxOutputLength: 1e6,
  maxWidth: Number.POSITIVE_INFINITY,
  min: false,
  plugins: [],
  printBasicPrototype: true,
  printFunctionName: true,
  printShadowRoot: true,
  theme: DEFAULT_THEME
};
function validateOptions(options) {
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(DEFAULT_OPTIONS, key)) {
      throw new Error(`pretty-format: Unknown option "${key}".`);
    }
  }
  if (options.min && options.indent !== void 0 && options.indent !== 0) {
    throw new Error('pretty-format: Options "min" and "indent" cannot be used together.');
  }
}
function getColorsHighlight() {
  return DEFAULT_THEME_KEYS.reduce((colors, key) => {
    const value = DEFAULT_THEME[key];
    const color = value && $[value];
    if (color && typeof color.close === "string" && typeof color.open === "string") {
      colors[key] = color;
    } else {
      throw new Error(`pretty-format: Option "theme" has a key "${key}" whose value "${value}" is undefined in ansi-styles.`);
    }
    return colors;
  }, /* @__PURE__ */ Object.create(null));
}
function getColorsEmpty() {
  return DEFAULT_THEME_KEYS.reduce((colors, key) => {
    colors[key] = {
      close: "",
      open: ""
    };
    return colors;
  }, /* @__PURE__ */ Object.create(null));
}
function getPrintFunctionName(options) {
  return options?.printFunctionName ?? DEFAULT_OPTIONS.printFunctionName;
}
function getEscapeRegex(options) {
  return options?.escapeRegex ?? DEFAULT_OPTIONS.escapeRegex;
}
function getEscapeString(options) {
  return options?.escapeString ?? DEFAULT_OPTIONS.escapeString;
}
function getConfig(options) {
  return {
    callToJSON: options?.callToJSON ?? DEFAULT_OPTIONS.callToJSON,
    colors: options?.highlight ? getColorsHighlight() : getColorsEmpty(),
    compareKeys: typeof options?.compareKeys === "function" || options?.compareKeys === null ? options.compareKeys : DEFAULT_OPTIONS.compareKeys,
    escapeRegex: getEscapeRegex(options),
    escapeString: getEscapeString(options),
    indent: options?.min ? "" : createIndent(options?.indent ?? DEFAULT_OPTIONS.indent),
    maxDepth: options?.maxDepth ?? DEFAULT_OPTIONS.maxDepth,
    maxWidth: options?.maxWidth ?? DEFAULT_OPTIONS.maxWidth,
    min: options?.min ?? DEFAULT_OPTIONS.min,
    plugins: options?.plugins ?? DEFAULT_OPTIONS.plugins,
    printBasicPrototype: options?.printBasicPrototype ?? true,
    printFunctionName: getPrintFunctionName(options),
    printShadowRoot: options?.printShadowRoot ?? true,
    spacingInner: options?.min ? " " : "\n",
    spacingOuter: options?.min ? "" : "\n",
    maxOutputLength: options?.maxOutputLength ?? DEFAULT_OPTIONS.maxOutputLength,
    _outputLengthPerDepth: []
  };
}
function createIndent(indent) {
  return Array.from({ length: indent + 1 }).join(" ");
}
function format(val, options) {
  if (options) {
    validateOptions(options);
    if (options.plugins) {
      const plugin2 = findPlugin(options.plugins, val);
      if (plugin2 !== null) {
        return printPlugin(plugin2, val, getConfig(options), "", 0, []);
      }
    }
  }
  const basicResult = printBasicValue(val, getPrintFunctionName(options), getEscapeRegex(options), getEscapeString(options));
  if (basicResult !== null) {
    return basicResult;
  }
  return printComplexValue(val, getConfig(options), "", 0, []);
}
var plugins = {
  AsymmetricMatcher: plugin$5,
  DOMCollection: plugin$4,
  DOMElement: plugin$3,
  Immutable: plugin$2,
  ReactElement: plugin$1,
  ReactTestComponent: plugin,
  Error: ErrorPlugin
};

// ../../main/node_modules/@vitest/utils/dist/display.js
var isNaN3 = Number.isNaN || ((i2) => i2 !== i2);
var stringEscapeChars2 = new RegExp("['\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0604\\u070f\\u17b4\\u17b5\\u200c-\\u200f\\u2028-\\u202f\\u2060-\\u206f\\ufeff\\ufff0-\\uffff]", "g");
var symbolsSupported2 = typeof Symbol === "function" && typeof Symbol.for === "function";
var { AsymmetricMatcher, DOMCollection, DOMElement, Immutable, ReactElement, ReactTestComponent } = plugins;
var PLUGINS = [
  ReactTestComponent,
  ReactElement,
  DOMElement,
  DOMCollection,
  Immutable,
  AsymmetricMatcher
];
function stringify(object, maxDepth = 10, { maxLength, filterNode, ...options } = {}) {
  const MAX_LENGTH = maxLength ?? 1e4;
  let result;
  const filterFn = typeof filterNode === "string" ? createNodeFilterFromSelector(filterNode) : filterNode;
  const plugins3 = filterFn ? [
    ReactTestComponent,
    ReactElement,
    createDOMElementFilter(filterFn),
    DOMCollection,
    Immutable,
    AsymmetricMatcher
  ] : PLUGINS;
  try {
    result = format(object, {
      maxDepth,
      escapeString: false,
      plugins: plugins3,
      ...options
    });
  } catch {
    result = format(object, {
      callToJSON: false,
      maxDepth,
      escapeString: false,
      plugins: plugins3,
      ...options
    });
  }
  return result.length >= MAX_LENGTH && maxDepth > 1 ? stringify(object, Math.floor(Math.min(maxDepth, Number.MAX_SAFE_INTEGER) / 2), {
    maxLength,
    filterNode,
    ...options
  }) : result;
}
function createNodeFilterFromSelector(selector2) {
  const ELEMENT_NODE2 = 1;
  const COMMENT_NODE2 = 8;
  return (node2) => {
    if (node2.nodeType === COMMENT_NODE2) {
      return false;
    }
    if (node2.nodeType === ELEMENT_NODE2 && node2.matches) {
      try {
        return !node2.matches(selector2);
      } catch {
        return true;
      }
    }
    return true;
  };
}

// ../../main/node_modules/@vitest/utils/dist/helpers.js
function assertTypes(value, name, types) {
  const receivedType = typeof value;
  const pass = types.includes(receivedType);
  if (!pass) {
    throw new TypeError(`${name} value must be ${types.join(" or ")}, received "${receivedType}"`);
  }
}
function isObject(item) {
  return item != null && typeof item === "object" && !Array.isArray(item);
}
function isFinalObj(obj) {
  return obj === Object.prototype || obj === Function.prototype || obj === RegExp.prototype;
}
function getType2(value) {
  return Object.prototype.toString.apply(value).slice(8, -1);
}
function collectOwnProperties(obj, collector) {
  const collect = typeof collector === "function" ? collector : (key) => collector.add(key);
  Object.getOwnPropertyNames(obj).forEach(collect);
  Object.getOwnPropertySymbols(obj).forEach(collect);
}
function getOwnProperties(obj) {
  const ownProps = /* @__PURE__ */ new Set();
  if (isFinalObj(obj)) {
    return [];
  }
  collectOwnProperties(obj, ownProps);
  return Array.from(ownProps);
}
var defaultCloneOptions = { forceWritable: false };
function deepClone(val, options = defaultCloneOptions) {
  const seen = /* @__PURE__ */ new WeakMap();
  return clone(val, seen, options);
}
function clone(val, seen, options = defaultCloneOptions) {
  let k, out;
  if (seen.has(val)) {
    return seen.get(val);
  }
  if (Array.isArray(val)) {
    out = Array.from({ length: k = val.length });
    seen.set(val, out);
    while (k--) {
      out[k] = clone(val[k], seen, options);
    }
    return out;
  }
  if (Object.prototype.toString.call(val) === "[object Object]") {
    out = Object.create(Object.getPrototypeOf(val));
    seen.set(val, out);
    const props = getOwnProperties(val);
    for (const k2 of props) {
      const descriptor = Object.getOwnPropertyDescriptor(val, k2);
      if (!descriptor) {
        continue;
      }
      const cloned = clone(val[k2], seen, options);
      if (options.forceWritable) {
        Object.defineProperty(out, k2, {
          enumerable: descriptor.enumerable,
          configurable: true,
          writable: true,
          value: cloned
        });
      } else if ("get" in descriptor) {
        Object.defineProperty(out, k2, {
          ...descriptor,
          get() {
            return cloned;
          }
        });
      } else {
        Object.defineProperty(out, k2, {
          ...descriptor,
          value: cloned
        });
      }
    }
    return out;
  }
  return val;
}
function noop() {
}
function ordinal(i2) {
  const j = i2 % 10;
  const k = i2 % 100;
  if (j === 1 && k !== 11) {
    return `${i2}st`;
  }
  if (j === 2 && k !== 12) {
    return `${i2}nd`;
  }
  if (j === 3 && k !== 13) {
    return `${i2}rd`;
  }
  return `${i2}th`;
}

// ../../main/node_modules/@vitest/utils/dist/diff.js
var DIFF_DELETE = -1;
var DIFF_INSERT = 1;
var DIFF_EQUAL = 0;
var Diff = class {
  0;
  1;
  constructor(op, text2) {
    this[0] = op;
    this[1] = text2;
  }
};
function diff_commonPrefix(text1, text2) {
  if (!text1 || !text2 || text1.charAt(0) !== text2.charAt(0)) {
    return 0;
  }
  let pointermin = 0;
  let pointermax = Math.min(text1.length, text2.length);
  let pointermid = pointermax;
  let pointerstart = 0;
  while (pointermin < pointermid) {
    if (text1.substring(pointerstart, pointermid) === text2.substring(pointerstart, pointermid)) {
      pointermin = pointermid;
      pointerstart = pointermin;
    } else {
      pointermax = pointermid;
    }
    pointermid = Math.floor((pointermax - pointermin) / 2 + pointermin);
  }
  return pointermid;
}
function diff_commonSuffix(text1, text2) {
  if (!text1 || !text2 || text1.charAt(text1.length - 1) !== text2.charAt(text2.length - 1)) {
    return 0;
  }
  let pointermin = 0;
  let pointermax = Math.min(text1.length, text2.length);
  let pointermid = pointermax;
  let pointerend = 0;
  while (pointermin < pointermid) {
    if (text1.substring(text1.length - pointermid, text1.length - pointerend) === text2.substring(text2.length - pointermid, text2.length - pointerend)) {
      pointermin = pointermid;
      pointerend = pointermin;
    } else {
      pointermax = pointermid;
    }
    pointermid = Math.floor((pointermax - pointermin) / 2 + pointermin);
  }
  return pointermid;
}
function diff_commonOverlap_(text1, text2) {
  const text1_length = text1.length;
  const text2_length = text2.length;
  if (text1_length === 0 || text2_length === 0) {
    return 0;
  }
  if (text1_length > text2_length) {
    text1 = text1.substring(text1_length - text2_length);
  } else if (text1_length < text2_length) {
    text2 = text2.substring(0, text1_length);
  }
  const text_length = Math.min(text1_length, text2_length);
  if (text1 === text2) {
    return text_length;
  }
  let best = 0;
  let length = 1;
  while (true) {
    const pattern = text1.substring(text_length - length);
    const found2 = text2.indexOf(pattern);
    if (found2 === -1) {
      return best;
    }
    length += found2;
    if (found2 === 0 || text1.substring(text_length - length) === text2.substring(0, length)) {
      best = length;
      length++;
    }
  }
}
function diff_cleanupSemantic(diffs) {
  let changes = false;
  const equalities = [];
  let equalitiesLength = 0;
  let lastEquality = null;
  let pointer = 0;
  let length_insertions1 = 0;
  let length_deletions1 = 0;
  let length_insertions2 = 0;
  let length_deletions2 = 0;
  while (pointer < diffs.length) {
    if (diffs[pointer][0] === DIFF_EQUAL) {
      equalities[equalitiesLength++] = pointer;
      length_insertions1 = length_insertions2;
      length_deletions1 = length_deletions2;
      length_insertions2 = 0;
      length_deletions2 = 0;
      lastEquality = diffs[pointer][1];
    } else {
      if (diffs[pointer][0] === DIFF_INSERT) {
        length_insertions2 += diffs[pointer][1].length;
      } else {
        length_deletions2 += diffs[pointer][1].length;
      }
      if (lastEquality && lastEquality.length <= Math.max(length_insertions1, length_deletions1) && lastEquality.length <= Math.max(length_insertions2, length_deletions2)) {
        diffs.splice(equalities[equalitiesLength - 1], 0, new Diff(DIFF_DELETE, lastEquality));
        diffs[equalities[equalitiesLength - 1] + 1][0] = DIFF_INSERT;
        equalitiesLength--;
        equalitiesLength--;
        pointer = equalitiesLength > 0 ? equalities[equalitiesLength - 1] : -1;
        length_insertions1 = 0;
        length_deletions1 = 0;
        length_insertions2 = 0;
        length_deletions2 = 0;
        lastEquality = null;
        changes = true;
      }
    }
    pointer++;
  }
  if (changes) {
    diff_cleanupMerge(diffs);
  }
  diff_cleanupSemanticLossless(diffs);
  pointer = 1;
  while (pointer < diffs.length) {
    if (diffs[pointer - 1][0] === DIFF_DELETE && diffs[pointer][0] === DIFF_INSERT) {
      const deletion = diffs[pointer - 1][1];
      const insertion = diffs[pointer][1];
      const overlap_length1 = diff_commonOverlap_(deletion, insertion);
      const overlap_length2 = diff_commonOverlap_(insertion, deletion);
      if (overlap_length1 >= overlap_length2) {
        if (overlap_length1 >= deletion.length / 2 || overlap_length1 >= insertion.length / 2) {
          diffs.splice(pointer, 0, new Diff(DIFF_EQUAL, insertion.substring(0, overlap_length1)));
          diffs[pointer - 1][1] = deletion.substring(0, deletion.length - overlap_length1);
          diffs[pointer + 1][1] = insertion.substring(overlap_length1);
          pointer++;
        }
      } else {
        if (overlap_length2 >= deletion.length / 2 || overlap_length2 >= insertion.length / 2) {
          diffs.splice(pointer, 0, new Diff(DIFF_EQUAL, deletion.substring(0, overlap_length2)));
          diffs[pointer - 1][0] = DIFF_INSERT;
          diffs[pointer - 1][1] = insertion.substring(0, insertion.length - overlap_length2);
          diffs[pointer + 1][0] = DIFF_DELETE;
          diffs[pointer + 1][1] = deletion.substring(overlap_length2);
          pointer++;
        }
      }
      pointer++;
    }
    pointer++;
  }
}
var nonAlphaNumericRegex_ = /[^a-z0-9]/i;
var whitespaceRegex_ = /\s/;
var linebreakRegex_ = /[\r\n]/;
var blanklineEndRegex_ = /\n\r?\n$/;
var blanklineStartRegex_ = /^\r?\n\r?\n/;
function diff_cleanupSemanticLossless(diffs) {
  let pointer = 1;
  while (pointer < diffs.length - 1) {
    if (diffs[pointer - 1][0] === DIFF_EQUAL && diffs[pointer + 1][0] === DIFF_EQUAL) {
      let equality1 = diffs[pointer - 1][1];
      let edit = diffs[pointer][1];
      let equality2 = diffs[pointer + 1][1];
      const commonOffset = diff_commonSuffix(equality1, edit);
      if (commonOffset) {
        const commonString = edit.substring(edit.length - commonOffset);
        equality1 = equality1.substring(0, equality1.length - commonOffset);
        edit = commonString + edit.substring(0, edit.length - commonOffset);
        equality2 = commonString + equality2;
      }
      let bestEquality1 = equality1;
      let bestEdit = edit;
      let bestEquality2 = equality2;
      let bestScore = diff_cleanupSemanticScore_(equality1, edit) + diff_cleanupSemanticScore_(edit, equality2);
      while (edit.charAt(0) === equality2.charAt(0)) {
        equality1 += edit.charAt(0);
        edit = edit.substring(1) + equality2.charAt(0);
        equality2 = equality2.substring(1);
        const score = diff_cleanupSemanticScore_(equality1, edit) + diff_cleanupSemanticScore_(edit, equality2);
        if (score >= bestScore) {
          bestScore = score;
          bestEquality1 = equality1;
          bestEdit = edit;
          bestEquality2 = equality2;
        }
      }
      if (diffs[pointer - 1][1] !== bestEquality1) {
        if (bestEquality1) {
          diffs[pointer - 1][1] = bestEquality1;
        } else {
          diffs.splice(pointer - 1, 1);
          pointer--;
        }
        diffs[pointer][1] = bestEdit;
        if (bestEquality2) {
          diffs[pointer + 1][1] = bestEquality2;
        } else {
          diffs.splice(pointer + 1, 1);
          pointer--;
        }
      }
    }
    pointer++;
  }
}
function diff_cleanupMerge(diffs) {
  diffs.push(new Diff(DIFF_EQUAL, ""));
  let pointer = 0;
  let count_delete = 0;
  let count_insert = 0;
  let text_delete = "";
  let text_insert = "";
  let commonlength;
  while (pointer < diffs.length) {
    switch (diffs[pointer][0]) {
      case DIFF_INSERT:
        count_insert++;
        text_insert += diffs[pointer][1];
        pointer++;
        break;
      case DIFF_DELETE:
        count_delete++;
        text_delete += diffs[pointer][1];
        pointer++;
        break;
      case DIFF_EQUAL:
        if (count_delete + count_insert > 1) {
          if (count_delete !== 0 && count_insert !== 0) {
            commonlength = diff_commonPrefix(text_insert, text_delete);
            if (commonlength !== 0) {
              if (pointer - count_delete - count_insert > 0 && diffs[pointer - count_delete - count_insert - 1][0] === DIFF_EQUAL) {
                diffs[pointer - count_delete - count_insert - 1][1] += text_insert.substring(0, commonlength);
              } else {
                diffs.splice(0, 0, new Diff(DIFF_EQUAL, text_insert.substring(0, commonlength)));
                pointer++;
              }
              text_insert = text_insert.substring(commonlength);
              text_delete = text_delete.substring(commonlength);
            }
            commonlength = diff_commonSuffix(text_insert, text_delete);
            if (commonlength !== 0) {
              diffs[pointer][1] = text_insert.substring(text_insert.length - commonlength) + diffs[pointer][1];
              text_insert = text_insert.substring(0, text_insert.length - commonlength);
              text_delete = text_delete.substring(0, text_delete.length - commonlength);
            }
          }
          pointer -= count_delete + count_insert;
          diffs.splice(pointer, count_delete + count_insert);
          if (text_delete.length) {
            diffs.splice(pointer, 0, new Diff(DIFF_DELETE, text_delete));
            pointer++;
          }
          if (text_insert.length) {
            diffs.splice(pointer, 0, new Diff(DIFF_INSERT, text_insert));
            pointer++;
          }
          pointer++;
        } else if (pointer !== 0 && diffs[pointer - 1][0] === DIFF_EQUAL) {
          diffs[pointer - 1][1] += diffs[pointer][1];
          diffs.splice(pointer, 1);
        } else {
          pointer++;
        }
        count_insert = 0;
        count_delete = 0;
        text_delete = "";
        text_insert = "";
        break;
    }
  }
  if (diffs.at(-1)?.[1] === "") {
    diffs.pop();
  }
  let changes = false;
  pointer = 1;
  while (pointer < diffs.length - 1) {
    if (diffs[pointer - 1][0] === DIFF_EQUAL && diffs[pointer + 1][0] === DIFF_EQUAL) {
      if (diffs[pointer][1].substring(diffs[pointer][1].length - diffs[pointer - 1][1].length) === diffs[pointer - 1][1]) {
        diffs[pointer][1] = diffs[pointer - 1][1] + diffs[pointer][1].substring(0, diffs[pointer][1].length - diffs[pointer - 1][1].length);
        diffs[pointer + 1][1] = diffs[pointer - 1][1] + diffs[pointer + 1][1];
        diffs.splice(pointer - 1, 1);
        changes = true;
      } else if (diffs[pointer][1].substring(0, diffs[pointer + 1][1].length) === diffs[pointer + 1][1]) {
        diffs[pointer - 1][1] += diffs[pointer + 1][1];
        diffs[pointer][1] = diffs[pointer][1].substring(diffs[pointer + 1][1].length) + diffs[pointer + 1][1];
        diffs.splice(pointer + 1, 1);
        changes = true;
      }
    }
    pointer++;
  }
  if (changes) {
    diff_cleanupMerge(diffs);
  }
}
function diff_cleanupSemanticScore_(one, two) {
  if (!one || !two) {
    return 6;
  }
  const char1 = one.charAt(one.length - 1);
  const char2 = two.charAt(0);
  const nonAlphaNumeric1 = char1.match(nonAlphaNumericRegex_);
  const nonAlphaNumeric2 = char2.match(nonAlphaNumericRegex_);
  const whitespace1 = nonAlphaNumeric1 && char1.match(whitespaceRegex_);
  const whitespace2 = nonAlphaNumeric2 && char2.match(whitespaceRegex_);
  const lineBreak1 = whitespace1 && char1.match(linebreakRegex_);
  const lineBreak2 = whitespace2 && char2.match(linebreakRegex_);
  const blankLine1 = lineBreak1 && one.match(blanklineEndRegex_);
  const blankLine2 = lineBreak2 && two.match(blanklineStartRegex_);
  if (blankLine1 || blankLine2) {
    return 5;
  } else if (lineBreak1 || lineBreak2) {
    return 4;
  } else if (nonAlphaNumeric1 && !whitespace1 && whitespace2) {
    return 3;
  } else if (whitespace1 || whitespace2) {
    return 2;
  } else if (nonAlphaNumeric1 || nonAlphaNumeric2) {
    return 1;
  }
  return 0;
}
var NO_DIFF_MESSAGE = "Compared values have no visual difference.";
var SIMILAR_MESSAGE = "Compared values serialize to the same structure.\nPrinting internal object structure without calling `toJSON` instead.";
function getDefaultExportFromCjs2(x) {
  return x && x.__esModule && Object.prototype.hasOwnProperty.call(x, "default") ? x["default"] : x;
}
var build = {};
var hasRequiredBuild;
function requireBuild() {
  if (hasRequiredBuild) return build;
  hasRequiredBuild = 1;
  Object.defineProperty(build, "__esModule", {
    value: true
  });
  build.default = diffSequence;
  const pkg = "diff-sequences";
  const NOT_YET_SET = 0;
  const countCommonItemsF = (aIndex, aEnd, bIndex, bEnd, isCommon) => {
    let nCommon = 0;
    while (aIndex < aEnd && bIndex < bEnd && isCommon(aIndex, bIndex)) {
      aIndex += 1;
      bIndex += 1;
      nCommon += 1;
    }
    return nCommon;
  };
  const countCommonItemsR = (aStart, aIndex, bStart, bIndex, isCommon) => {
    let nCommon = 0;
    while (aStart <= aIndex && bStart <= bIndex && isCommon(aIndex, bIndex)) {
      aIndex -= 1;
      bIndex -= 1;
      nCommon += 1;
    }
    return nCommon;
  };
  const extendPathsF = (d2, aEnd, bEnd, bF, isCommon, aIndexesF, iMaxF) => {
    let iF = 0;
    let kF = -d2;
    let aFirst = aIndexesF[iF];
    let aIndexPrev1 = aFirst;
    aIndexesF[iF] += countCommonItemsF(
      aFirst + 1,
      aEnd,
      bF + aFirst - kF + 1,
      bEnd,
      isCommon
    );
    const nF = d2 < iMaxF ? d2 : iMaxF;
    for (iF += 1, kF += 2; iF <= nF; iF += 1, kF += 2) {
      if (iF !== d2 && aIndexPrev1 < aIndexesF[iF]) {
        aFirst = aIndexesF[iF];
      } else {
        aFirst = aIndexPrev1 + 1;
        if (aEnd <= aFirst) {
          return iF - 1;
        }
      }
      aIndexPrev1 = aIndexesF[iF];
      aIndexesF[iF] = aFirst + countCommonItemsF(aFirst + 1, aEnd, bF + aFirst - kF + 1, bEnd, isCommon);
    }
    return iMaxF;
  };
  const extendPathsR = (d2, aStart, bStart, bR, isCommon, aIndexesR, iMaxR) => {
    let iR = 0;
    let kR = d2;
    let aFirst = aIndexesR[iR];
    let aIndexPrev1 = aFirst;
    aIndexesR[iR] -= countCommonItemsR(
      aStart,
      aFirst - 1,
      bStart,
      bR + aFirst - kR - 1,
      isCommon
    );
    const nR = d2 < iMaxR ? d2 : iMaxR;
    for (iR += 1, kR -= 2; iR <= nR; iR += 1, kR -= 2) {
      if (iR !== d2 && aIndexesR[iR] < aIndexPrev1) {
        aFirst = aIndexesR[iR];
      } else {
        aFirst = aIndexPrev1 - 1;
        if (aFirst < aStart) {
          return iR - 1;
        }
      }
      aIndexPrev1 = aIndexesR[iR];
      aIndexesR[iR] = aFirst - countCommonItemsR(
        aStart,
        aFirst - 1,
        bStart,
        bR + aFirst - kR - 1,
        isCommon
      );
    }
    return iMaxR;
  };
  const extendOverlappablePathsF = (d2, aStart, aEnd, bStart, bEnd, isCommon, aIndexesF, iMaxF, aIndexesR, iMaxR, division) => {
    const bF = bStart - aStart;
    const aLength = aEnd - aStart;
    const bLength = bEnd - bStart;
    const baDeltaLength = bLength - aLength;
    const kMinOverlapF = -baDeltaLength - (d2 - 1);
    const kMaxOverlapF = -baDeltaLength + (d2 - 1);
    let aIndexPrev1 = NOT_YET_SET;
    const nF = d2 < iMaxF ? d2 : iMaxF;
    for (let iF = 0, kF = -d2; iF <= nF; iF += 1, kF += 2) {
      const insert = iF === 0 || iF !== d2 && aIndexPrev1 < aIndexesF[iF];
      const aLastPrev = insert ? aIndexesF[iF] : aIndexPrev1;
      const aFirst = insert ? aLastPrev : aLastPrev + 1;
      const bFirst = bF + aFirst - kF;
      const nCommonF = countCommonItemsF(
        aFirst + 1,
        aEnd,
        bFirst + 1,
        bEnd,
        isCommon
      );
      const aLast = aFirst + nCommonF;
      aIndexPrev1 = aIndexesF[iF];
      aIndexesF[iF] = aLast;
      if (kMinOverlapF <= kF && kF <= kMaxOverlapF) {
        const iR = (d2 - 1 - (kF + baDeltaLength)) / 2;
        if (iR <= iMaxR && aIndexesR[iR] - 1 <= aLast) {
          const bLastPrev = bF + aLastPrev - (insert ? kF + 1 : kF - 1);
          const nCommonR = countCommonItemsR(
            aStart,
            aLastPrev,
            bStart,
            bLastPrev,
            isCommon
          );
          const aIndexPrevFirst = aLastPrev - nCommonR;
          const bIndexPrevFirst = bLastPrev - nCommonR;
          const aEndPreceding = aIndexPrevFirst + 1;
          const bEndPreceding = bIndexPrevFirst + 1;
          division.nChangePreceding = d2 - 1;
          if (d2 - 1 === aEndPreceding + bEndPreceding - aStart - bStart) {
            division.aEndPreceding = aStart;
            division.bEndPreceding = bStart;
          } else {
            division.aEndPreceding = aEndPreceding;
            division.bEndPreceding = bEndPreceding;
          }
          division.nCommonPreceding = nCommonR;
          if (nCommonR !== 0) {
            division.aCommonPreceding = aEndPreceding;
            division.bCommonPreceding = bEndPreceding;
          }
          division.nCommonFollowing = nCommonF;
          if (nCommonF !== 0) {
            division.aCommonFollowing = aFirst + 1;
            division.bCommonFollowing = bFirst + 1;
          }
          const aStartFollowing = aLast + 1;
          const bStartFollowing = bFirst + nCommonF + 1;
          division.nChangeFollowing = d2 - 1;
          if (d2 - 1 === aEnd + bEnd - aStartFollowing - bStartFollowing) {
            division.aStartFollowing = aEnd;
            division.bStartFollowing = bEnd;
          } else {
            division.aStartFollowing = aStartFollowing;
            division.bStartFollowing = bStartFollowing;
          }
          return true;
        }
      }
    }
    return false;
  };
  const extendOverlappablePathsR = (d2, aStart, aEnd, bStart, bEnd, isCommon, aIndexesF, iMaxF, aIndexesR, iMaxR, division) => {
    const bR = bEnd - aEnd;
    const aLength = aEnd - aStart;
    const bLength = bEnd - bStart;
    const baDeltaLength = bLength - aLength;
    const kMinOverlapR = baDeltaLength - d2;
    const kMaxOverlapR = baDeltaLength + d2;
    let aIndexPrev1 = NOT_YET_SET;
    const nR = d2 < iMaxR ? d2 : iMaxR;
    for (let iR = 0, kR = d2; iR <= nR; iR += 1, kR -= 2) {
      const insert = iR === 0 || iR !== d2 && aIndexesR[iR] < aIndexPrev1;
      const aLastPrev = insert ? aIndexesR[iR] : aIndexPrev1;
      const aFirst = insert ? aLastPrev : aLastPrev - 1;
      const bFirst = bR + aFirst - kR;
      const nCommonR = countCommonItemsR(
        aStart,
        aFirst - 1,
        bStart,
        bFirst - 1,
        isCommon
      );
      const aLast = aFirst - nCommonR;
      aIndexPrev1 = aIndexesR[iR];
      aIndexesR[iR] = aLast;
      if (kMinOverlapR <= kR && kR <= kMaxOverlapR) {
        const iF = (d2 + (kR - baDeltaLength)) / 2;
        if (iF <= iMaxF && aLast - 1 <= aIndexesF[iF]) {
          const bLast = bFirst - nCommonR;
          division.nChangePreceding = d2;
          if (d2 === aLast + bLast - aStart - bStart) {
            division.aEndPreceding = aStart;
            division.bEndPreceding = bStart;
          } else {
            division.aEndPreceding = aLast;
            division.bEndPreceding = bLast;
          }
          division.nCommonPreceding = nCommonR;
          if (nCommonR !== 0) {
            division.aCommonPreceding = aLast;
            division.bCommonPreceding = bLast;
          }
          division.nChangeFollowing = d2 - 1;
          if (d2 === 1) {
            division.nCommonFollowing = 0;
            division.aStartFollowing = aEnd;
            division.bStartFollowing = bEnd;
          } else {
            const bLastPrev = bR + aLastPrev - (insert ? kR - 1 : kR + 1);
            const nCommonF = countCommonItemsF(
              aLastPrev,
              aEnd,
              bLastPrev,
              bEnd,
              isCommon
            );
            division.nCommonFollowing = nCommonF;
            if (nCommonF !== 0) {
              division.aCommonFollowing = aLastPrev;
              division.bCommonFollowing = bLastPrev;
            }
            const aStartFollowing = aLastPrev + nCommonF;
            const bStartFollowing = bLastPrev + nCommonF;
            if (d2 - 1 === aEnd + bEnd - aStartFollowing - bStartFollowing) {
              division.aStartFollowing = aEnd;
              division.bStartFollowing = bEnd;
            } else {
              division.aStartFollowing = aStartFollowing;
              division.bStartFollowing = bStartFollowing;
            }
          }
          return true;
        }
      }
    }
    return false;
  };
  const divide = (nChange, aStart, aEnd, bStart, bEnd, isCommon, aIndexesF, aIndexesR, division) => {
    const bF = bStart - aStart;
    const bR = bEnd - aEnd;
    const aLength = aEnd - aStart;
    const bLength = bEnd - bStart;
    const baDeltaLength = bLength - aLength;
    let iMaxF = aLength;
    let iMaxR = aLength;
    aIndexesF[0] = aStart - 1;
    aIndexesR[0] = aEnd;
    if (baDeltaLength % 2 === 0) {
      const dMin = (nChange || baDeltaLength) / 2;
      const dMax = (aLength + bLength) / 2;
      for (let d2 = 1; d2 <= dMax; d2 += 1) {
        iMaxF = extendPathsF(d2, aEnd, bEnd, bF, isCommon, aIndexesF, iMaxF);
        if (d2 < dMin) {
          iMaxR = extendPathsR(d2, aStart, bStart, bR, isCommon, aIndexesR, iMaxR);
        } else if (
          // If a reverse path overlaps a forward path in the same diagonal,
          // return a division of the index intervals at the middle change.
          extendOverlappablePathsR(
            d2,
            aStart,
            aEnd,
            bStart,
            bEnd,
            isCommon,
            aIndexesF,
            iMaxF,
            aIndexesR,
            iMaxR,
            division
          )
        ) {
          return;
        }
      }
    } else {
      const dMin = ((nChange || baDeltaLength) + 1) / 2;
      const dMax = (aLength + bLength + 1) / 2;
      let d2 = 1;
      iMaxF = extendPathsF(d2, aEnd, bEnd, bF, isCommon, aIndexesF, iMaxF);
      for (d2 += 1; d2 <= dMax; d2 += 1) {
        iMaxR = extendPathsR(
          d2 - 1,
          aStart,
          bStart,
          bR,
          isCommon,
          aIndexesR,
          iMaxR
        );
        if (d2 < dMin) {
          iMaxF = extendPathsF(d2, aEnd, bEnd, bF, isCommon, aIndexesF, iMaxF);
        } else if (
          // If a forward path overlaps a reverse path in the same diagonal,
          // return a division of the index intervals at the middle change.
          extendOverlappablePathsF(
            d2,
            aStart,
            aEnd,
            bStart,
            bEnd,
            isCommon,
            aIndexesF,
            iMaxF,
            aIndexesR,
            iMaxR,
            division
          )
        ) {
          return;
        }
      }
    }
    throw new Error(
      `${pkg}: no overlap aStart=${aStart} aEnd=${aEnd} bStart=${bStart} bEnd=${bEnd}`
    );
  };
  const findSubsequences = (nChange, aStart, aEnd, bStart, bEnd, transposed, callbacks, aIndexesF, aIndexesR, division) => {
    if (bEnd - bStart < aEnd - aStart) {
      transposed = !transposed;
      if (transposed && callbacks.length === 1) {
        const { foundSubsequence: foundSubsequence2, isCommon: isCommon2 } = callbacks[0];
        callbacks[1] = {
          foundSubsequence: (nCommon, bCommon, aCommon) => {
            foundSubsequence2(nCommon, aCommon, bCommon);
          },
          isCommon: (bIndex, aIndex) => isCommon2(aIndex, bIndex)
        };
      }
      const tStart = aStart;
      const tEnd = aEnd;
      aStart = bStart;
      aEnd = bEnd;
      bStart = tStart;
      bEnd = tEnd;
    }
    const { foundSubsequence, isCommon } = callbacks[transposed ? 1 : 0];
    divide(
      nChange,
      aStart,
      aEnd,
      bStart,
      bEnd,
      isCommon,
      aIndexesF,
      aIndexesR,
      division
    );
    const {
      nChangePreceding,
      aEndPreceding,
      bEndPreceding,
      nCommonPreceding,
      aCommonPreceding,
      bCommonPreceding,
      nCommonFollowing,
      aCommonFollowing,
      bCommonFollowing,
      nChangeFollowing,
      aStartFollowing,
      bStartFollowing
    } = division;
    if (aStart < aEndPreceding && bStart < bEndPreceding) {
      findSubsequences(
        nChangePreceding,
        aStart,
        aEndPreceding,
        bStart,
        bEndPreceding,
        transposed,
        callbacks,
        aIndexesF,
        aIndexesR,
        division
      );
    }
    if (nCommonPreceding !== 0) {
      foundSubsequence(nCommonPreceding, aCommonPreceding, bCommonPreceding);
    }
    if (nCommonFollowing !== 0) {
      foundSubsequence(nCommonFollowing, aCommonFollowing, bCommonFollowing);
    }
    if (aStartFollowing < aEnd && bStartFollowing < bEnd) {
      findSubsequences(
        nChangeFollowing,
        aStartFollowing,
        aEnd,
        bStartFollowing,
        bEnd,
        transposed,
        callbacks,
        aIndexesF,
        aIndexesR,
        division
      );
    }
  };
  const validateLength = (name, arg) => {
    if (typeof arg !== "number") {
      throw new TypeError(`${pkg}: ${name} typeof ${typeof arg} is not a number`);
    }
    if (!Number.isSafeInteger(arg)) {
      throw new RangeError(`${pkg}: ${name} value ${arg} is not a safe integer`);
    }
    if (arg < 0) {
      throw new RangeError(`${pkg}: ${name} value ${arg} is a negative integer`);
    }
  };
  const validateCallback = (name, arg) => {
    const type3 = typeof arg;
    if (type3 !== "function") {
      throw new TypeError(`${pkg}: ${name} typeof ${type3} is not a function`);
    }
  };
  function diffSequence(aLength, bLength, isCommon, foundSubsequence) {
    validateLength("aLength", aLength);
    validateLength("bLength", bLength);
    validateCallback("isCommon", isCommon);
    validateCallback("foundSubsequence", foundSubsequence);
    const nCommonF = countCommonItemsF(0, aLength, 0, bLength, isCommon);
    if (nCommonF !== 0) {
      foundSubsequence(nCommonF, 0, 0);
    }
    if (aLength !== nCommonF || bLength !== nCommonF) {
      const aStart = nCommonF;
      const bStart = nCommonF;
      const nCommonR = countCommonItemsR(
        aStart,
        aLength - 1,
        bStart,
        bLength - 1,
        isCommon
      );
      const aEnd = aLength - nCommonR;
      const bEnd = bLength - nCommonR;
      const nCommonFR = nCommonF + nCommonR;
      if (aLength !== nCommonFR && bLength !== nCommonFR) {
        const nChange = 0;
        const transposed = false;
        const callbacks = [
          {
            foundSubsequence,
            isCommon
          }
        ];
        const aIndexesF = [NOT_YET_SET];
        const aIndexesR = [NOT_YET_SET];
        const division = {
          aCommonFollowing: NOT_YET_SET,
          aCommonPreceding: NOT_YET_SET,
          aEndPreceding: NOT_YET_SET,
          aStartFollowing: NOT_YET_SET,
          bCommonFollowing: NOT_YET_SET,
          bCommonPreceding: NOT_YET_SET,
          bEndPreceding: NOT_YET_SET,
          bStartFollowing: NOT_YET_SET,
          nChangeFollowing: NOT_YET_SET,
          nChangePreceding: NOT_YET_SET,
          nCommonFollowing: NOT_YET_SET,
          nCommonPreceding: NOT_YET_SET
        };
        findSubsequences(
          nChange,
          aStart,
          aEnd,
          bStart,
          bEnd,
          transposed,
          callbacks,
          aIndexesF,
          aIndexesR,
          division
        );
      }
      if (nCommonR !== 0) {
        foundSubsequence(nCommonR, aEnd, bEnd);
      }
    }
  }
  return build;
}
var buildExports = /* @__PURE__ */ requireBuild();
var diffSequences = /* @__PURE__ */ getDefaultExportFromCjs2(buildExports);
function formatTrailingSpaces(line2, trailingSpaceFormatter) {
  return line2.replace(/\s+$/, (match) => trailingSpaceFormatter(match));
}
function printDiffLine(line2, isFirstOrLast, color, indicator, trailingSpaceFormatter, emptyFirstOrLastLinePlaceholder) {
  return line2.length !== 0 ? color(`${indicator} ${formatTrailingSpaces(line2, trailingSpaceFormatter)}`) : indicator !== " " ? color(indicator) : isFirstOrLast && emptyFirstOrLastLinePlaceholder.length !== 0 ? color(`${indicator} ${emptyFirstOrLastLinePlaceholder}`) : "";
}
function printDeleteLine(line2, isFirstOrLast, { aColor, aIndicator, changeLineTrailingSpaceColor, emptyFirstOrLastLinePlaceholder }) {
  return printDiffLine(line2, isFirstOrLast, aColor, aIndicator, changeLineTrailingSpaceColor, emptyFirstOrLastLinePlaceholder);
}
function printInsertLine(line2, isFirstOrLast, { bColor, bIndicator, changeLineTrailingSpaceColor, emptyFirstOrLastLinePlaceholder }) {
  return printDiffLine(line2, isFirstOrLast, bColor, bIndicator, changeLineTrailingSpaceColor, emptyFirstOrLastLinePlaceholder);
}
function printCommonLine(line2, isFirstOrLast, { commonColor, commonIndicator, commonLineTrailingSpaceColor, emptyFirstOrLastLinePlaceholder }) {
  return printDiffLine(line2, isFirstOrLast, commonColor, commonIndicator, commonLineTrailingSpaceColor, emptyFirstOrLastLinePlaceholder);
}
function createPatchMark(aStart, aEnd, bStart, bEnd, { patchColor }) {
  return patchColor(`@@ -${aStart + 1},${aEnd - aStart} +${bStart + 1},${bEnd - bStart} @@`);
}
function joinAlignedDiffsNoExpand(diffs, options) {
  const iLength = diffs.length;
  const nContextLines = options.contextLines;
  const nContextLines2 = nContextLines + nContextLines;
  let jLength = iLength;
  let hasExcessAtStartOrEnd = false;
  let nExcessesBetweenChanges = 0;
  let i2 = 0;
  while (i2 !== iLength) {
    const iStart = i2;
    while (i2 !== iLength && diffs[i2][0] === DIFF_EQUAL) {
      i2 += 1;
    }
    if (iStart !== i2) {
      if (iStart === 0) {
        if (i2 > nContextLines) {
          jLength -= i2 - nContextLines;
          hasExcessAtStartOrEnd = true;
        }
      } else if (i2 === iLength) {
        const n = i2 - iStart;
        if (n > nContextLines) {
          jLength -= n - nContextLines;
          hasExcessAtStartOrEnd = true;
        }
      } else {
        const n = i2 - iStart;
        if (n > nContextLines2) {
          jLength -= n - nContextLines2;
          nExcessesBetweenChanges += 1;
        }
      }
    }
    while (i2 !== iLength && diffs[i2][0] !== DIFF_EQUAL) {
      i2 += 1;
    }
  }
  const hasPatch = nExcessesBetweenChanges !== 0 || hasExcessAtStartOrEnd;
  if (nExcessesBetweenChanges !== 0) {
    jLength += nExcessesBetweenChanges + 1;
  } else if (hasExcessAtStartOrEnd) {
    jLength += 1;
  }
  const jLast = jLength - 1;
  const lines = [];
  let jPatchMark = 0;
  if (hasPatch) {
    lines.push("");
  }
  let aStart = 0;
  let bStart = 0;
  let aEnd = 0;
  let bEnd = 0;
  const pushCommonLine = (line2) => {
    const j = lines.length;
    lines.push(printCommonLine(line2, j === 0 || j === jLast, options));
    aEnd += 1;
    bEnd += 1;
  };
  const pushDeleteLine = (line2) => {
    const j = lines.length;
    lines.push(printDeleteLine(line2, j === 0 || j === jLast, options));
    aEnd += 1;
  };
  const pushInsertLine = (line2) => {
    const j = lines.length;
    lines.push(printInsertLine(line2, j === 0 || j === jLast, options));
    bEnd += 1;
  };
  i2 = 0;
  while (i2 !== iLength) {
    let iStart = i2;
    while (i2 !== iLength && diffs[i2][0] === DIFF_EQUAL) {
      i2 += 1;
    }
    if (iStart !== i2) {
      if (iStart === 0) {
        if (i2 > nContextLines) {
          iStart = i2 - nContextLines;
          aStart = iStart;
          bStart = iStart;
          aEnd = aStart;
          bEnd = bStart;
        }
        for (let iCommon = iStart; iCommon !== i2; iCommon += 1) {
          pushCommonLine(diffs[iCommon][1]);
        }
      } else if (i2 === iLength) {
        const iEnd = i2 - iStart > nContextLines ? iStart + nContextLines : i2;
        for (let iCommon = iStart; iCommon !== iEnd; iCommon += 1) {
          pushCommonLine(diffs[iCommon][1]);
        }
      } else {
        const nCommon = i2 - iStart;
        if (nCommon > nContextLines2) {
          const iEnd = iStart + nContextLines;
          for (let iCommon = iStart; iCommon !== iEnd; iCommon += 1) {
            pushCommonLine(diffs[iCommon][1]);
          }
          lines[jPatchMark] = createPatchMark(aStart, aEnd, bStart, bEnd, options);
          jPatchMark = lines.length;
          lines.push("");
          const nOmit = nCommon - nContextLines2;
          aStart = aEnd + nOmit;
          bStart = bEnd + nOmit;
          aEnd = aStart;
          bEnd = bStart;
          for (let iCommon = i2 - nContextLines; iCommon !== i2; iCommon += 1) {
            pushCommonLine(diffs[iCommon][1]);
          }
        } else {
          for (let iCommon = iStart; iCommon !== i2; iCommon += 1) {
            pushCommonLine(diffs[iCommon][1]);
          }
        }
      }
    }
    while (i2 !== iLength && diffs[i2][0] === DIFF_DELETE) {
      pushDeleteLine(diffs[i2][1]);
      i2 += 1;
    }
    while (i2 !== iLength && diffs[i2][0] === DIFF_INSERT) {
      pushInsertLine(diffs[i2][1]);
      i2 += 1;
    }
  }
  if (hasPatch) {
    lines[jPatchMark] = createPatchMark(aStart, aEnd, bStart, bEnd, options);
  }
  return lines.join("\n");
}
function joinAlignedDiffsExpand(diffs, options) {
  return diffs.map((diff2, i2, diffs2) => {
    const line2 = diff2[1];
    const isFirstOrLast = i2 === 0 || i2 === diffs2.length - 1;
    switch (diff2[0]) {
      case DIFF_DELETE:
        return printDeleteLine(line2, isFirstOrLast, options);
      case DIFF_INSERT:
        return printInsertLine(line2, isFirstOrLast, options);
      default:
        return printCommonLine(line2, isFirstOrLast, options);
    }
  }).join("\n");
}
var noColor = (string) => string;
var DIFF_CONTEXT_DEFAULT = 5;
var DIFF_TRUNCATE_THRESHOLD_DEFAULT = 0;
function getDefaultOptions() {
  return {
    aAnnotation: "Expected",
    aColor: $.green,
    aIndicator: "-",
    bAnnotation: "Received",
    bColor: $.red,
    bIndicator: "+",
    changeColor: $.inverse,
    changeLineTrailingSpaceColor: noColor,
    commonColor: $.dim,
    commonIndicator: " ",
    commonLineTrailingSpaceColor: noColor,
    compareKeys: void 0,
    contextLines: DIFF_CONTEXT_DEFAULT,
    emptyFirstOrLastLinePlaceholder: "",
    expand: false,
    includeChangeCounts: false,
    omitAnnotationLines: false,
    patchColor: $.yellow,
    printBasicPrototype: false,
    truncateThreshold: DIFF_TRUNCATE_THRESHOLD_DEFAULT,
    truncateAnnotation: "... Diff result is truncated",
    truncateAnnotationColor: noColor
  };
}
function getCompareKeys(compareKeys) {
  return compareKeys && typeof compareKeys === "function" ? compareKeys : void 0;
}
function getContextLines(contextLines) {
  return typeof contextLines === "number" && Number.isSafeInteger(contextLines) && contextLines >= 0 ? contextLines : DIFF_CONTEXT_DEFAULT;
}
function normalizeDiffOptions(options = {}) {
  return {
    ...getDefaultOptions(),
    ...options,
    compareKeys: getCompareKeys(options.compareKeys),
    contextLines: getContextLines(options.contextLines)
  };
}
function isEmptyString(lines) {
  return lines.length === 1 && lines[0].length === 0;
}
function countChanges(diffs) {
  let a = 0;
  let b2 = 0;
  diffs.forEach((diff2) => {
    switch (diff2[0]) {
      case DIFF_DELETE:
        a += 1;
        break;
      case DIFF_INSERT:
        b2 += 1;
        break;
    }
  });
  return {
    a,
    b: b2
  };
}
function printAnnotation({ aAnnotation, aColor, aIndicator, bAnnotation, bColor, bIndicator, includeChangeCounts, omitAnnotationLines }, changeCounts) {
  if (omitAnnotationLines) {
    return "";
  }
  let aRest = "";
  let bRest = "";
  if (includeChangeCounts) {
    const aCount = String(changeCounts.a);
    const bCount = String(changeCounts.b);
    const baAnnotationLengthDiff = bAnnotation.length - aAnnotation.length;
    const aAnnotationPadding = " ".repeat(Math.max(0, baAnnotationLengthDiff));
    const bAnnotationPadding = " ".repeat(Math.max(0, -baAnnotationLengthDiff));
    const baCountLengthDiff = bCount.length - aCount.length;
    const aCountPadding = " ".repeat(Math.max(0, baCountLengthDiff));
    const bCountPadding = " ".repeat(Math.max(0, -baCountLengthDiff));
    aRest = `${aAnnotationPadding}  ${aIndicator} ${aCountPadding}${aCount}`;
    bRest = `${bAnnotationPadding}  ${bIndicator} ${bCountPadding}${bCount}`;
  }
  const a = `${aIndicator} ${aAnnotation}${aRest}`;
  const b2 = `${bIndicator} ${bAnnotation}${bRest}`;
  return `${aColor(a)}
${bColor(b2)}

`;
}
function printDiffLines(diffs, truncated, options) {
  return printAnnotation(options, countChanges(diffs)) + (options.expand ? joinAlignedDiffsExpand(diffs, options) : joinAlignedDiffsNoExpand(diffs, options)) + (truncated ? options.truncateAnnotationColor(`
${options.truncateAnnotation}`) : "");
}
function diffLinesUnified(aLines, bLines, options) {
  const normalizedOptions = normalizeDiffOptions(options);
  const [diffs, truncated] = diffLinesRaw(isEmptyString(aLines) ? [] : aLines, isEmptyString(bLines) ? [] : bLines, normalizedOptions);
  return printDiffLines(diffs, truncated, normalizedOptions);
}
function diffLinesUnified2(aLinesDisplay, bLinesDisplay, aLinesCompare, bLinesCompare, options) {
  if (isEmptyString(aLinesDisplay) && isEmptyString(aLinesCompare)) {
    aLinesDisplay = [];
    aLinesCompare = [];
  }
  if (isEmptyString(bLinesDisplay) && isEmptyString(bLinesCompare)) {
    bLinesDisplay = [];
    bLinesCompare = [];
  }
  if (aLinesDisplay.length !== aLinesCompare.length || bLinesDisplay.length !== bLinesCompare.length) {
    return diffLinesUnified(aLinesDisplay, bLinesDisplay, options);
  }
  const [diffs, truncated] = diffLinesRaw(aLinesCompare, bLinesCompare, options);
  let aIndex = 0;
  let bIndex = 0;
  diffs.forEach((diff2) => {
    switch (diff2[0]) {
      case DIFF_DELETE:
        diff2[1] = aLinesDisplay[aIndex];
        aIndex += 1;
        break;
      case DIFF_INSERT:
        diff2[1] = bLinesDisplay[bIndex];
        bIndex += 1;
        break;
      default:
        diff2[1] = bLinesDisplay[bIndex];
        aIndex += 1;
        bIndex += 1;
    }
  });
  return printDiffLines(diffs, truncated, normalizeDiffOptions(options));
}
function diffLinesRaw(aLines, bLines, options) {
  const truncate2 = options?.truncateThreshold ?? false;
  const truncateThreshold = Math.max(Math.floor(options?.truncateThreshold ?? 0), 0);
  const aLength = truncate2 ? Math.min(aLines.length, truncateThreshold) : aLines.length;
  const bLength = truncate2 ? Math.min(bLines.length, truncateThreshold) : bLines.length;
  const truncated = aLength !== aLines.length || bLength !== bLines.length;
  const isCommon = (aIndex2, bIndex2) => aLines[aIndex2] === bLines[bIndex2];
  const diffs = [];
  let aIndex = 0;
  let bIndex = 0;
  const foundSubsequence = (nCommon, aCommon, bCommon) => {
    for (; aIndex !== aCommon; aIndex += 1) {
      diffs.push(new Diff(DIFF_DELETE, aLines[aIndex]));
    }
    for (; bIndex !== bCommon; bIndex += 1) {
      diffs.push(new Diff(DIFF_INSERT, bLines[bIndex]));
    }
    for (; nCommon !== 0; nCommon -= 1, aIndex += 1, bIndex += 1) {
      diffs.push(new Diff(DIFF_EQUAL, bLines[bIndex]));
    }
  };
  diffSequences(aLength, bLength, isCommon, foundSubsequence);
  for (; aIndex !== aLength; aIndex += 1) {
    diffs.push(new Diff(DIFF_DELETE, aLines[aIndex]));
  }
  for (; bIndex !== bLength; bIndex += 1) {
    diffs.push(new Diff(DIFF_INSERT, bLines[bIndex]));
  }
  return [diffs, truncated];
}
function getType3(value) {
  if (value === void 0) {
    return "undefined";
  } else if (value === null) {
    return "null";
  } else if (Array.isArray(value)) {
    return "array";
  } else if (typeof value === "boolean") {
    return "boolean";
  } else if (typeof value === "function") {
    return "function";
  } else if (typeof value === "number") {
    return "number";
  } else if (typeof value === "string") {
    return "string";
  } else if (typeof value === "bigint") {
    return "bigint";
  } else if (typeof value === "object") {
    if (value != null) {
      if (value.constructor === RegExp) {
        return "regexp";
      } else if (value.constructor === Map) {
        return "map";
      } else if (value.constructor === Set) {
        return "set";
      } else if (value.constructor === Date) {
        return "date";
      }
    }
    return "object";
  } else if (typeof value === "symbol") {
    return "symbol";
  }
  throw new Error(`value of unknown type: ${value}`);
}
function getNewLineSymbol(string) {
  return string.includes("\r\n") ? "\r\n" : "\n";
}
function diffStrings(a, b2, options) {
  const truncate2 = options?.truncateThreshold ?? false;
  const truncateThreshold = Math.max(Math.floor(options?.truncateThreshold ?? 0), 0);
  let aLength = a.length;
  let bLength = b2.length;
  if (truncate2) {
    const aMultipleLines = a.includes("\n");
    const bMultipleLines = b2.includes("\n");
    const aNewLineSymbol = getNewLineSymbol(a);
    const bNewLineSymbol = getNewLineSymbol(b2);
    const _a = aMultipleLines ? `${a.split(aNewLineSymbol, truncateThreshold).join(aNewLineSymbol)}
` : a;
    const _b = bMultipleLines ? `${b2.split(bNewLineSymbol, truncateThreshold).join(bNewLineSymbol)}
` : b2;
    aLength = _a.length;
    bLength = _b.length;
  }
  const truncated = aLength !== a.length || bLength !== b2.length;
  const isCommon = (aIndex2, bIndex2) => a[aIndex2] === b2[bIndex2];
  let aIndex = 0;
  let bIndex = 0;
  const diffs = [];
  const foundSubsequence = (nCommon, aCommon, bCommon) => {
    if (aIndex !== aCommon) {
      diffs.push(new Diff(DIFF_DELETE, a.slice(aIndex, aCommon)));
    }
    if (bIndex !== bCommon) {
      diffs.push(new Diff(DIFF_INSERT, b2.slice(bIndex, bCommon)));
    }
    aIndex = aCommon + nCommon;
    bIndex = bCommon + nCommon;
    diffs.push(new Diff(DIFF_EQUAL, b2.slice(bCommon, bIndex)));
  };
  diffSequences(aLength, bLength, isCommon, foundSubsequence);
  if (aIndex !== aLength) {
    diffs.push(new Diff(DIFF_DELETE, a.slice(aIndex)));
  }
  if (bIndex !== bLength) {
    diffs.push(new Diff(DIFF_INSERT, b2.slice(bIndex)));
  }
  return [diffs, truncated];
}
function concatenateRelevantDiffs(op, diffs, changeColor) {
  return diffs.reduce((reduced, diff2) => reduced + (diff2[0] === DIFF_EQUAL ? diff2[1] : diff2[0] === op && diff2[1].length !== 0 ? changeColor(diff2[1]) : ""), "");
}
var ChangeBuffer = class {
  op;
  line;
  lines;
  changeColor;
  constructor(op, changeColor) {
    this.op = op;
    this.line = [];
    this.lines = [];
    this.changeColor = changeColor;
  }
  pushSubstring(substring) {
    this.pushDiff(new Diff(this.op, substring));
  }
  pushLine() {
    this.lines.push(this.line.length !== 1 ? new Diff(this.op, concatenateRelevantDiffs(this.op, this.line, this.changeColor)) : this.line[0][0] === this.op ? this.line[0] : new Diff(this.op, this.line[0][1]));
    this.line.length = 0;
  }
  isLineEmpty() {
    return this.line.length === 0;
  }
  // Minor input to buffer.
  pushDiff(diff2) {
    this.line.push(diff2);
  }
  // Main input to buffer.
  align(diff2) {
    const string = diff2[1];
    if (string.includes("\n")) {
      const substrings = string.split("\n");
      const iLast = substrings.length - 1;
      substrings.forEach((substring, i2) => {
        if (i2 < iLast) {
          this.pushSubstring(substring);
          this.pushLine();
        } else if (substring.length !== 0) {
          this.pushSubstring(substring);
        }
      });
    } else {
      this.pushDiff(diff2);
    }
  }
  // Output from buffer.
  moveLinesTo(lines) {
    if (!this.isLineEmpty()) {
      this.pushLine();
    }
    lines.push(...this.lines);
    this.lines.length = 0;
  }
};
var CommonBuffer = class {
  deleteBuffer;
  insertBuffer;
  lines;
  constructor(deleteBuffer, insertBuffer) {
    this.deleteBuffer = deleteBuffer;
    this.insertBuffer = insertBuffer;
    this.lines = [];
  }
  pushDiffCommonLine(diff2) {
    this.lines.push(diff2);
  }
  pushDiffChangeLines(diff2) {
    const isDiffEmpty = diff2[1].length === 0;
    if (!isDiffEmpty || this.deleteBuffer.isLineEmpty()) {
      this.deleteBuffer.pushDiff(diff2);
    }
    if (!isDiffEmpty || this.insertBuffer.isLineEmpty()) {
      this.insertBuffer.pushDiff(diff2);
    }
  }
  flushChangeLines() {
    this.deleteBuffer.moveLinesTo(this.lines);
    this.insertBuffer.moveLinesTo(this.lines);
  }
  // Input to buffer.
  align(diff2) {
    const op = diff2[0];
    const string = diff2[1];
    if (string.includes("\n")) {
      const substrings = string.split("\n");
      const iLast = substrings.length - 1;
      substrings.forEach((substring, i2) => {
        if (i2 === 0) {
          const subdiff = new Diff(op, substring);
          if (this.deleteBuffer.isLineEmpty() && this.insertBuffer.isLineEmpty()) {
            this.flushChangeLines();
            this.pushDiffCommonLine(subdiff);
          } else {
            this.pushDiffChangeLines(subdiff);
            this.flushChangeLines();
          }
        } else if (i2 < iLast) {
          this.pushDiffCommonLine(new Diff(op, substring));
        } else if (substring.length !== 0) {
          this.pushDiffChangeLines(new Diff(op, substring));
        }
      });
    } else {
      this.pushDiffChangeLines(diff2);
    }
  }
  // Output from buffer.
  getLines() {
    this.flushChangeLines();
    return this.lines;
  }
};
function getAlignedDiffs(diffs, changeColor) {
  const deleteBuffer = new ChangeBuffer(DIFF_DELETE, changeColor);
  const insertBuffer = new ChangeBuffer(DIFF_INSERT, changeColor);
  const commonBuffer = new CommonBuffer(deleteBuffer, insertBuffer);
  diffs.forEach((diff2) => {
    switch (diff2[0]) {
      case DIFF_DELETE:
        deleteBuffer.align(diff2);
        break;
      case DIFF_INSERT:
        insertBuffer.align(diff2);
        break;
      default:
        commonBuffer.align(diff2);
    }
  });
  return commonBuffer.getLines();
}
function hasCommonDiff(diffs, isMultiline) {
  if (isMultiline) {
    const iLast = diffs.length - 1;
    return diffs.some((diff2, i2) => diff2[0] === DIFF_EQUAL && (i2 !== iLast || diff2[1] !== "\n"));
  }
  return diffs.some((diff2) => diff2[0] === DIFF_EQUAL);
}
function diffStringsUnified(a, b2, options) {
  if (a !== b2 && a.length !== 0 && b2.length !== 0) {
    const isMultiline = a.includes("\n") || b2.includes("\n");
    const [diffs, truncated] = diffStringsRaw(isMultiline ? `${a}
` : a, isMultiline ? `${b2}
` : b2, true, options);
    if (hasCommonDiff(diffs, isMultiline)) {
      const optionsNormalized = normalizeDiffOptions(options);
      const lines = getAlignedDiffs(diffs, optionsNormalized.changeColor);
      return printDiffLines(lines, truncated, optionsNormalized);
    }
  }
  return diffLinesUnified(a.split("\n"), b2.split("\n"), options);
}
function diffStringsRaw(a, b2, cleanup, options) {
  const [diffs, truncated] = diffStrings(a, b2, options);
  if (cleanup) {
    diff_cleanupSemantic(diffs);
  }
  return [diffs, truncated];
}
function getCommonMessage(message, options) {
  const { commonColor } = normalizeDiffOptions(options);
  return commonColor(message);
}
var { AsymmetricMatcher: AsymmetricMatcher2, DOMCollection: DOMCollection2, DOMElement: DOMElement2, Immutable: Immutable2, ReactElement: ReactElement2, ReactTestComponent: ReactTestComponent2 } = plugins;
var PLUGINS2 = [
  ReactTestComponent2,
  ReactElement2,
  DOMElement2,
  DOMCollection2,
  Immutable2,
  AsymmetricMatcher2,
  plugins.Error
];
var FORMAT_OPTIONS = {
  maxDepth: 20,
  plugins: PLUGINS2
};
var FALLBACK_FORMAT_OPTIONS = {
  callToJSON: false,
  maxDepth: 8,
  plugins: PLUGINS2
};
var DEFAULT_MEMORIZE = (_, v) => v;
function diff(a, b2, options, memorize = DEFAULT_MEMORIZE) {
  if (Object.is(a, b2)) {
    return "";
  }
  const aType = getType3(a);
  let expectedType = aType;
  let omitDifference = false;
  if (aType === "object" && typeof a.asymmetricMatch === "function") {
    if (a.$$typeof !== /* @__PURE__ */ Symbol.for("jest.asymmetricMatcher")) {
      return void 0;
    }
    if (typeof a.getExpectedType !== "function") {
      return void 0;
    }
    expectedType = a.getExpectedType();
    omitDifference = expectedType === "string";
  }
  if (expectedType !== getType3(b2)) {
    let truncate2 = function(s) {
      return s.length <= MAX_LENGTH ? s : `${s.slice(0, MAX_LENGTH)}...`;
    };
    const { aAnnotation, aColor, aIndicator, bAnnotation, bColor, bIndicator } = normalizeDiffOptions(options);
    const formatOptions = getFormatOptions(FALLBACK_FORMAT_OPTIONS, options);
    let aDisplay = format(a, formatOptions);
    let bDisplay = format(b2, formatOptions);
    const MAX_LENGTH = 1e5;
    aDisplay = memorize("expected", truncate2(aDisplay));
    bDisplay = memorize("actual", truncate2(bDisplay));
    const aDiff = `${aColor(`${aIndicator} ${aAnnotation}:`)}
${aDisplay}`;
    const bDiff = `${bColor(`${bIndicator} ${bAnnotation}:`)}
${bDisplay}`;
    return `${aDiff}

${bDiff}`;
  }
  if (omitDifference) {
    return void 0;
  }
  switch (aType) {
    case "string":
      return diffLinesUnified(a.split("\n"), b2.split("\n"), options);
    case "boolean":
    case "number":
      return comparePrimitive(a, b2, options, memorize);
    case "map":
      return compareObjects(sortMap(a), sortMap(b2), options, memorize);
    case "set":
      return compareObjects(sortSet(a), sortSet(b2), options, memorize);
    default:
      return compareObjects(a, b2, options, memorize);
  }
}
function createMemorize(memory2) {
  return (pointer, stringifiedValue) => {
    memory2[pointer] = stringifiedValue;
    return stringifiedValue;
  };
}
function comparePrimitive(a, b2, options, memorize = DEFAULT_MEMORIZE) {
  const aFormat = memorize("expected", format(a, FORMAT_OPTIONS));
  const bFormat = memorize("actual", format(b2, FORMAT_OPTIONS));
  return aFormat === bFormat ? "" : diffLinesUnified(aFormat.split("\n"), bFormat.split("\n"), options);
}
function sortMap(map) {
  return new Map(Array.from(map.entries()).sort());
}
function sortSet(set2) {
  return new Set(Array.from(set2.values()).sort());
}
function compareObjects(a, b2, options, memorize = DEFAULT_MEMORIZE) {
  let difference2;
  let hasThrown = false;
  try {
    const formatOptions = getFormatOptions(FORMAT_OPTIONS, options);
    difference2 = getObjectsDifference(a, b2, formatOptions, options, memorize);
  } catch {
    hasThrown = true;
  }
  const noDiffMessage = getCommonMessage(NO_DIFF_MESSAGE, options);
  if (difference2 === void 0 || difference2 === noDiffMessage) {
    const formatOptions = getFormatOptions(FALLBACK_FORMAT_OPTIONS, options);
    difference2 = getObjectsDifference(a, b2, formatOptions, options, memorize);
    if (difference2 !== noDiffMessage && !hasThrown) {
      difference2 = `${getCommonMessage(SIMILAR_MESSAGE, options)}

${difference2}`;
    }
  }
  return difference2;
}
function getDefaultFormatOptions(options) {
  return getFormatOptions(FORMAT_OPTIONS, options);
}
function getFormatOptions(formatOptions, options) {
  const { compareKeys, printBasicPrototype, maxDepth } = normalizeDiffOptions(options);
  return {
    ...formatOptions,
    compareKeys,
    printBasicPrototype,
    maxDepth: maxDepth ?? formatOptions.maxDepth
  };
}
function getObjectsDifference(a, b2, formatOptions, options, memorize = DEFAULT_MEMORIZE) {
  const formatOptionsZeroIndent = {
    ...formatOptions,
    indent: 0
  };
  const aCompare = format(a, formatOptionsZeroIndent);
  const bCompare = format(b2, formatOptionsZeroIndent);
  if (aCompare === bCompare) {
    return getCommonMessage(NO_DIFF_MESSAGE, options);
  } else {
    const aDisplay = memorize("expected", format(a, formatOptions));
    const bDisplay = memorize("actual", format(b2, formatOptions));
    return diffLinesUnified2(aDisplay.split("\n"), bDisplay.split("\n"), aCompare.split("\n"), bCompare.split("\n"), options);
  }
}
var MAX_DIFF_STRING_LENGTH = 2e4;
function isAsymmetricMatcher(data) {
  const type3 = getType2(data);
  return type3 === "Object" && typeof data.asymmetricMatch === "function";
}
function isReplaceable(obj1, obj2) {
  const obj1Type = getType2(obj1);
  const obj2Type = getType2(obj2);
  return obj1Type === obj2Type && (obj1Type === "Object" || obj1Type === "Array");
}
function printDiffOrStringify(received, expected, options, memory2) {
  const { aAnnotation, bAnnotation } = normalizeDiffOptions(options);
  if (typeof expected === "string" && typeof received === "string" && expected.length > 0 && received.length > 0 && expected.length <= MAX_DIFF_STRING_LENGTH && received.length <= MAX_DIFF_STRING_LENGTH && expected !== received) {
    if (expected.includes("\n") || received.includes("\n")) {
      return diffStringsUnified(expected, received, options);
    }
    const [diffs] = diffStringsRaw(expected, received, true);
    const hasCommonDiff2 = diffs.some((diff2) => diff2[0] === DIFF_EQUAL);
    const printLabel = getLabelPrinter(aAnnotation, bAnnotation);
    const expectedLine = printLabel(aAnnotation) + printExpected(getCommonAndChangedSubstrings(diffs, DIFF_DELETE, hasCommonDiff2));
    const receivedLine = printLabel(bAnnotation) + printReceived(getCommonAndChangedSubstrings(diffs, DIFF_INSERT, hasCommonDiff2));
    return `${expectedLine}
${receivedLine}`;
  }
  const clonedExpected = deepClone(expected, { forceWritable: true });
  const clonedReceived = deepClone(received, { forceWritable: true });
  const { replacedExpected, replacedActual } = replaceAsymmetricMatcher(clonedReceived, clonedExpected);
  const memorize = memory2 ? createMemorize(memory2) : DEFAULT_MEMORIZE;
  const difference2 = diff(replacedExpected, replacedActual, options, memorize);
  return difference2;
}
function replaceAsymmetricMatcher(actual, expected, actualReplaced = /* @__PURE__ */ new WeakSet(), expectedReplaced = /* @__PURE__ */ new WeakSet()) {
  if (actual instanceof Error && expected instanceof Error && typeof actual.cause !== "undefined" && typeof expected.cause === "undefined") {
    delete actual.cause;
    return {
      replacedActual: actual,
      replacedExpected: expected
    };
  }
  if (!isReplaceable(actual, expected)) {
    return {
      replacedActual: actual,
      replacedExpected: expected
    };
  }
  if (actualReplaced.has(actual) || expectedReplaced.has(expected)) {
    return {
      replacedActual: actual,
      replacedExpected: expected
    };
  }
  actualReplaced.add(actual);
  expectedReplaced.add(expected);
  getOwnProperties(expected).forEach((key) => {
    const expectedValue = expected[key];
    const actualValue = actual[key];
    if (isAsymmetricMatcher(expectedValue)) {
      if (expectedValue.asymmetricMatch(actualValue)) {
        expected[key] = actualValue;
      } else if ("sample" in expectedValue && expectedValue.sample !== void 0 && isReplaceable(actualValue, expectedValue.sample)) {
        const replaced = replaceAsymmetricMatcher(actualValue, expectedValue.sample, actualReplaced, expectedReplaced);
        actual[key] = replaced.replacedActual;
        expected[key] = replaced.replacedExpected;
      }
    } else if (isAsymmetricMatcher(actualValue)) {
      if (actualValue.asymmetricMatch(expectedValue)) {
        actual[key] = expectedValue;
      } else if ("sample" in actualValue && actualValue.sample !== void 0 && isReplaceable(actualValue.sample, expectedValue)) {
        const replaced = replaceAsymmetricMatcher(actualValue.sample, expectedValue, actualReplaced, expectedReplaced);
        actual[key] = replaced.replacedActual;
        expected[key] = replaced.replacedExpected;
      }
    } else if (isReplaceable(actualValue, expectedValue)) {
      const replaced = replaceAsymmetricMatcher(actualValue, expectedValue, actualReplaced, expectedReplaced);
      actual[key] = replaced.replacedActual;
      expected[key] = replaced.replacedExpected;
    }
  });
  return {
    replacedActual: actual,
    replacedExpected: expected
  };
}
function getLabelPrinter(...strings) {
  const maxLength = strings.reduce((max, string) => string.length > max ? string.length : max, 0);
  return (string) => `${string}: ${" ".repeat(maxLength - string.length)}`;
}
var SPACE_SYMBOL = "\xB7";
function replaceTrailingSpaces(text2) {
  return text2.replace(/\s+$/gm, (spaces) => SPACE_SYMBOL.repeat(spaces.length));
}
function printReceived(object) {
  return $.red(replaceTrailingSpaces(stringify(object)));
}
function printExpected(value) {
  return $.green(replaceTrailingSpaces(stringify(value)));
}
function getCommonAndChangedSubstrings(diffs, op, hasCommonDiff2) {
  return diffs.reduce((reduced, diff2) => reduced + (diff2[0] === DIFF_EQUAL ? diff2[1] : diff2[0] === op ? hasCommonDiff2 ? $.inverse(diff2[1]) : diff2[1] : ""), "");
}

// ../../main/node_modules/@vitest/spy/dist/index.js
function isMockFunction(fn) {
  return typeof fn === "function" && "_isMockFunction" in fn && fn._isMockFunction === true;
}

// ../../main/node_modules/@vitest/utils/dist/serialize.js
var IS_RECORD_SYMBOL = "@@__IMMUTABLE_RECORD__@@";
var IS_COLLECTION_SYMBOL = "@@__IMMUTABLE_ITERABLE__@@";
function isImmutable(v) {
  return v && (v[IS_COLLECTION_SYMBOL] || v[IS_RECORD_SYMBOL]);
}
var OBJECT_PROTO = Object.getPrototypeOf({});
function getUnserializableMessage(err) {
  if (err instanceof Error) {
    return `<unserializable>: ${err.message}`;
  }
  if (typeof err === "string") {
    return `<unserializable>: ${err}`;
  }
  return "<unserializable>";
}
function serializeValue(val, seen = /* @__PURE__ */ new WeakMap()) {
  if (!val || typeof val === "string") {
    return val;
  }
  if (val instanceof Error && "toJSON" in val && typeof val.toJSON === "function") {
    const jsonValue = val.toJSON();
    if (jsonValue && jsonValue !== val && typeof jsonValue === "object") {
      if (typeof val.message === "string") {
        safe(() => jsonValue.message ??= normalizeErrorMessage(val.message));
      }
      if (typeof val.stack === "string") {
        safe(() => jsonValue.stack ??= val.stack);
      }
      if (typeof val.name === "string") {
        safe(() => jsonValue.name ??= val.name);
      }
      if (val.cause != null) {
        safe(() => jsonValue.cause ??= serializeValue(val.cause, seen));
      }
    }
    return serializeValue(jsonValue, seen);
  }
  if (typeof val === "function") {
    return `Function<${val.name || "anonymous"}>`;
  }
  if (typeof val === "symbol") {
    return val.toString();
  }
  if (typeof val !== "object") {
    return val;
  }
  if (typeof Buffer !== "undefined" && val instanceof Buffer) {
    return `<Buffer(${val.length}) ...>`;
  }
  if (typeof Uint8Array !== "undefined" && val instanceof Uint8Array) {
    return `<Uint8Array(${val.length}) ...>`;
  }
  if (isImmutable(val)) {
    return serializeValue(val.toJSON(), seen);
  }
  if (val instanceof Promise || val.constructor && val.constructor.prototype === "AsyncFunction") {
    return "Promise";
  }
  if (typeof Element !== "undefined" && val instanceof Element) {
    return val.tagName;
  }
  if (typeof val.toJSON === "function") {
    return serializeValue(val.toJSON(), seen);
  }
  if (seen.has(val)) {
    return seen.get(val);
  }
  if (Array.isArray(val)) {
    const clone2 = new Array(val.length);
    seen.set(val, clone2);
    val.forEach((e, i2) => {
      try {
        clone2[i2] = serializeValue(e, seen);
      } catch (err) {
        clone2[i2] = getUnserializableMessage(err);
      }
    });
    return clone2;
  } else {
    const clone2 = /* @__PURE__ */ Object.create(null);
    seen.set(val, clone2);
    let obj = val;
    while (obj && obj !== OBJECT_PROTO) {
      Object.getOwnPropertyNames(obj).forEach((key) => {
        if (key in clone2) {
          return;
        }
        try {
          clone2[key] = serializeValue(val[key], seen);
        } catch (err) {
          delete clone2[key];
          clone2[key] = getUnserializableMessage(err);
        }
      });
      obj = Object.getPrototypeOf(obj);
    }
    if (val instanceof Error) {
      safe(() => clone2.message = normalizeErrorMessage(val.message));
    }
    return clone2;
  }
}
function safe(fn) {
  try {
    return fn();
  } catch {
  }
}
function normalizeErrorMessage(message) {
  return message.replace(/\(0\s?,\s?__vite_ssr_import_\d+__.(\w+)\)/g, "$1").replace(/__(vite_ssr_import|vi_import)_\d+__\./g, "").replace(/getByTestId('__vitest_\d+__')/g, "page");
}

// ../../main/node_modules/@vitest/utils/dist/error.js
function processError(_err, diffOptions, seen = /* @__PURE__ */ new WeakSet()) {
  if (!_err || typeof _err !== "object") {
    return { message: String(_err) };
  }
  const err = _err;
  if (err.showDiff || err.showDiff === void 0 && err.expected !== void 0 && err.actual !== void 0) {
    const options = {
      ...diffOptions,
      ...err.diffOptions
    };
    err.diff = printDiffOrStringify(err.actual, err.expected, options, err);
    err.expected = prettifyValue(err.expected, options);
    err.actual = prettifyValue(err.actual, options);
  }
  try {
    if (!seen.has(err) && typeof err.cause === "object") {
      seen.add(err);
      err.cause = processError(err.cause, diffOptions, seen);
    }
  } catch {
  }
  try {
    return serializeValue(err);
  } catch (e) {
    return serializeValue(new Error(`Failed to fully serialize error: ${e?.message}
Inner error message: ${err?.message}`));
  }
}
function prettifyValue(value, options) {
  if (typeof value !== "string") {
    return format(value, getDefaultFormatOptions(options));
  }
  return value;
}

// ../../main/node_modules/@vitest/expect/dist/index.js
var MATCHERS_OBJECT = /* @__PURE__ */ Symbol.for("matchers-object");
var JEST_MATCHERS_OBJECT = /* @__PURE__ */ Symbol.for("$$jest-matchers-object");
var GLOBAL_EXPECT = /* @__PURE__ */ Symbol.for("expect-global");
var ASYMMETRIC_MATCHERS_OBJECT = /* @__PURE__ */ Symbol.for("asymmetric-matchers-object");
var EXPECTED_COLOR = $.green;
var RECEIVED_COLOR = $.red;
var INVERTED_COLOR = $.inverse;
var BOLD_WEIGHT = $.bold;
var DIM_COLOR = $.dim;
function matcherHint(matcherName, received = "received", expected = "expected", options = {}) {
  const { comment = "", isDirectExpectCall = false, isNot = false, promise = "", secondArgument = "", expectedColor = EXPECTED_COLOR, receivedColor = RECEIVED_COLOR, secondArgumentColor = EXPECTED_COLOR } = options;
  let hint = "";
  let dimString = "expect";
  if (!isDirectExpectCall && received !== "") {
    hint += DIM_COLOR(`${dimString}(`) + receivedColor(received);
    dimString = ")";
  }
  if (promise !== "") {
    hint += DIM_COLOR(`${dimString}.`) + promise;
    dimString = "";
  }
  if (isNot) {
    hint += `${DIM_COLOR(`${dimString}.`)}not`;
    dimString = "";
  }
  if (matcherName.includes(".")) {
    dimString += matcherName;
  } else {
    hint += DIM_COLOR(`${dimString}.`) + matcherName;
    dimString = "";
  }
  if (expected === "") {
    dimString += "()";
  } else {
    hint += DIM_COLOR(`${dimString}(`) + expectedColor(expected);
    if (secondArgument) {
      hint += DIM_COLOR(", ") + secondArgumentColor(secondArgument);
    }
    dimString = ")";
  }
  if (comment !== "") {
    dimString += ` // ${comment}`;
  }
  if (dimString !== "") {
    hint += DIM_COLOR(dimString);
  }
  return hint;
}
var SPACE_SYMBOL2 = "\xB7";
function replaceTrailingSpaces2(text2) {
  return text2.replace(/\s+$/gm, (spaces) => SPACE_SYMBOL2.repeat(spaces.length));
}
function printReceived2(object) {
  return RECEIVED_COLOR(replaceTrailingSpaces2(stringify(object)));
}
function printExpected2(value) {
  return EXPECTED_COLOR(replaceTrailingSpaces2(stringify(value)));
}
function getMatcherUtils() {
  return {
    EXPECTED_COLOR,
    RECEIVED_COLOR,
    INVERTED_COLOR,
    BOLD_WEIGHT,
    DIM_COLOR,
    diff,
    matcherHint,
    printReceived: printReceived2,
    printExpected: printExpected2,
    printDiffOrStringify,
    printWithType
  };
}
function printWithType(name, value, print) {
  const type3 = getType2(value);
  const hasType = type3 !== "null" && type3 !== "undefined" ? `${name} has type:  ${type3}
` : "";
  const hasValue = `${name} has value: ${print(value)}`;
  return hasType + hasValue;
}
function getCustomEqualityTesters() {
  return globalThis[JEST_MATCHERS_OBJECT].customEqualityTesters;
}
function equals(a, b2, customTesters, strictCheck) {
  customTesters = customTesters || [];
  return eq(a, b2, [], [], customTesters, strictCheck ? hasKey : hasDefinedKey);
}
var functionToString = Function.prototype.toString;
function isAsymmetric(obj) {
  return !!obj && typeof obj === "object" && "asymmetricMatch" in obj && isA("Function", obj.asymmetricMatch);
}
function asymmetricMatch(a, b2, customTesters) {
  const asymmetricA = isAsymmetric(a);
  const asymmetricB = isAsymmetric(b2);
  if (asymmetricA && asymmetricB) {
    return void 0;
  }
  if (asymmetricA) {
    return a.asymmetricMatch(b2, customTesters);
  }
  if (asymmetricB) {
    return b2.asymmetricMatch(a, customTesters);
  }
}
function isError(value) {
  if (typeof Error.isError === "function") {
    return Error.isError(value);
  }
  switch (Object.prototype.toString.call(value)) {
    case "[object Error]":
    case "[object Exception]":
    case "[object DOMException]":
      return true;
    default:
      return value instanceof Error;
  }
}
function eq(a, b2, aStack, bStack, customTesters, hasKey2) {
  let result = true;
  const asymmetricResult = asymmetricMatch(a, b2, customTesters);
  if (asymmetricResult !== void 0) {
    return asymmetricResult;
  }
  const testerContext = { equals };
  for (let i2 = 0; i2 < customTesters.length; i2++) {
    const customTesterResult = customTesters[i2].call(testerContext, a, b2, customTesters);
    if (customTesterResult !== void 0) {
      return customTesterResult;
    }
  }
  if (typeof URL === "function" && a instanceof URL && b2 instanceof URL) {
    return a.href === b2.href;
  }
  if (Object.is(a, b2)) {
    return true;
  }
  if (a === null || b2 === null) {
    return a === b2;
  }
  const className = Object.prototype.toString.call(a);
  if (className !== Object.prototype.toString.call(b2)) {
    return false;
  }
  switch (className) {
    case "[object Boolean]":
    case "[object String]":
    case "[object Number]":
      if (typeof a !== typeof b2) {
        return false;
      } else if (typeof a !== "object" && typeof b2 !== "object") {
        return Object.is(a, b2);
      } else {
        return Object.is(a.valueOf(), b2.valueOf());
      }
    case "[object Date]": {
      const numA = +a;
      const numB = +b2;
      return numA === numB || Number.isNaN(numA) && Number.isNaN(numB);
    }
    case "[object RegExp]":
      return a.source === b2.source && a.flags === b2.flags;
    case "[object Temporal.Instant]":
    case "[object Temporal.ZonedDateTime]":
    case "[object Temporal.PlainDateTime]":
    case "[object Temporal.PlainDate]":
    case "[object Temporal.PlainTime]":
    case "[object Temporal.PlainYearMonth]":
    case "[object Temporal.PlainMonthDay]":
      return a.equals(b2);
    case "[object Temporal.Duration]":
      return a.toString() === b2.toString();
  }
  if (typeof a !== "object" || typeof b2 !== "object") {
    return false;
  }
  if (isDomNode(a) && isDomNode(b2)) {
    return a.isEqualNode(b2);
  }
  let length = aStack.length;
  while (length--) {
    if (aStack[length] === a) {
      return bStack[length] === b2;
    } else if (bStack[length] === b2) {
      return false;
    }
  }
  aStack.push(a);
  bStack.push(b2);
  if (className === "[object Array]" && a.length !== b2.length) {
    return false;
  }
  if (isError(a) && isError(b2)) {
    try {
      return isErrorEqual(a, b2, aStack, bStack, customTesters, hasKey2);
    } finally {
      aStack.pop();
      bStack.pop();
    }
  }
  const aKeys = keys(a, hasKey2);
  let key;
  let size2 = aKeys.length;
  if (keys(b2, hasKey2).length !== size2) {
    return false;
  }
  while (size2--) {
    key = aKeys[size2];
    result = hasKey2(b2, key) && eq(a[key], b2[key], aStack, bStack, customTesters, hasKey2);
    if (!result) {
      return false;
    }
  }
  aStack.pop();
  bStack.pop();
  return result;
}
function isErrorEqual(a, b2, aStack, bStack, customTesters, hasKey2) {
  let result = Object.prototype.toString.call(a) === Object.prototype.toString.call(b2) && a.name === b2.name && a.message === b2.message;
  if (typeof b2.cause !== "undefined") {
    result &&= eq(a.cause, b2.cause, aStack, bStack, customTesters, hasKey2);
  }
  if (a instanceof AggregateError && b2 instanceof AggregateError) {
    result &&= eq(a.errors, b2.errors, aStack, bStack, customTesters, hasKey2);
  }
  result &&= eq({ ...a }, { ...b2 }, aStack, bStack, customTesters, hasKey2);
  return result;
}
function keys(obj, hasKey2) {
  const keys2 = [];
  for (const key in obj) {
    if (hasKey2(obj, key)) {
      keys2.push(key);
    }
  }
  return keys2.concat(Object.getOwnPropertySymbols(obj).filter((symbol) => Object.getOwnPropertyDescriptor(obj, symbol).enumerable));
}
function hasDefinedKey(obj, key) {
  return hasKey(obj, key) && obj[key] !== void 0;
}
function hasKey(obj, key) {
  return Object.hasOwn(obj, key);
}
function isA(typeName, value) {
  return Object.prototype.toString.apply(value) === `[object ${typeName}]`;
}
function isDomNode(obj) {
  return obj !== null && typeof obj === "object" && "nodeType" in obj && typeof obj.nodeType === "number" && "nodeName" in obj && typeof obj.nodeName === "string" && "isEqualNode" in obj && typeof obj.isEqualNode === "function";
}
var IS_KEYED_SENTINEL2 = "@@__IMMUTABLE_KEYED__@@";
var IS_SET_SENTINEL2 = "@@__IMMUTABLE_SET__@@";
var IS_LIST_SENTINEL2 = "@@__IMMUTABLE_LIST__@@";
var IS_ORDERED_SENTINEL2 = "@@__IMMUTABLE_ORDERED__@@";
var IS_RECORD_SYMBOL2 = "@@__IMMUTABLE_RECORD__@@";
function isImmutableUnorderedKeyed(maybeKeyed) {
  return !!(maybeKeyed && maybeKeyed[IS_KEYED_SENTINEL2] && !maybeKeyed[IS_ORDERED_SENTINEL2]);
}
function isImmutableUnorderedSet(maybeSet) {
  return !!(maybeSet && maybeSet[IS_SET_SENTINEL2] && !maybeSet[IS_ORDERED_SENTINEL2]);
}
function isObjectLiteral(source) {
  return source != null && typeof source === "object" && !Array.isArray(source);
}
function isImmutableList(source) {
  return Boolean(source && isObjectLiteral(source) && source[IS_LIST_SENTINEL2]);
}
function isImmutableOrderedKeyed(source) {
  return Boolean(source && isObjectLiteral(source) && source[IS_KEYED_SENTINEL2] && source[IS_ORDERED_SENTINEL2]);
}
function isImmutableOrderedSet(source) {
  return Boolean(source && isObjectLiteral(source) && source[IS_SET_SENTINEL2] && source[IS_ORDERED_SENTINEL2]);
}
function isImmutableRecord(source) {
  return Boolean(source && isObjectLiteral(source) && source[IS_RECORD_SYMBOL2]);
}
var IteratorSymbol = Symbol.iterator;
function hasIterator(object) {
  return !!(object != null && object[IteratorSymbol]);
}
function iterableEquality(a, b2, customTesters = [], aStack = [], bStack = []) {
  if (typeof a !== "object" || typeof b2 !== "object" || Array.isArray(a) || Array.isArray(b2) || !hasIterator(a) || !hasIterator(b2)) {
    return void 0;
  }
  if (a.constructor !== b2.constructor) {
    return false;
  }
  let length = aStack.length;
  while (length--) {
    if (aStack[length] === a) {
      return bStack[length] === b2;
    }
  }
  aStack.push(a);
  bStack.push(b2);
  const filteredCustomTesters = [...customTesters.filter((t2) => t2 !== iterableEquality), iterableEqualityWithStack];
  function iterableEqualityWithStack(a2, b3) {
    return iterableEquality(a2, b3, [...customTesters], [...aStack], [...bStack]);
  }
  if (a.size !== void 0) {
    if (a.size !== b2.size) {
      return false;
    } else if (isA("Set", a) || isImmutableUnorderedSet(a)) {
      let allFound = true;
      for (const aValue of a) {
        if (!b2.has(aValue)) {
          let has = false;
          for (const bValue of b2) {
            const isEqual2 = equals(aValue, bValue, filteredCustomTesters);
            if (isEqual2 === true) {
              has = true;
            }
          }
          if (has === false) {
            allFound = false;
            break;
          }
        }
      }
      aStack.pop();
      bStack.pop();
      return allFound;
    } else if (isA("Map", a) || isImmutableUnorderedKeyed(a)) {
      let allFound = true;
      for (const aEntry of a) {
        if (!b2.has(aEntry[0]) || !equals(aEntry[1], b2.get(aEntry[0]), filteredCustomTesters)) {
          let has = false;
          for (const bEntry of b2) {
            const matchedKey = equals(aEntry[0], bEntry[0], filteredCustomTesters);
            let matchedValue = false;
            if (matchedKey === true) {
              matchedValue = equals(aEntry[1], bEntry[1], filteredCustomTesters);
            }
            if (matchedValue === true) {
              has = true;
            }
          }
          if (has === false) {
            allFound = false;
            break;
          }
        }
      }
      aStack.pop();
      bStack.pop();
      return allFound;
    }
  }
  const bIterator = b2[IteratorSymbol]();
  for (const aValue of a) {
    const nextB = bIterator.next();
    if (nextB.done || !equals(aValue, nextB.value, filteredCustomTesters)) {
      return false;
    }
  }
  if (!bIterator.next().done) {
    return false;
  }
  if (!isImmutableList(a) && !isImmutableOrderedKeyed(a) && !isImmutableOrderedSet(a) && !isImmutableRecord(a)) {
    const aEntries = Object.entries(a);
    const bEntries = Object.entries(b2);
    if (!equals(aEntries, bEntries, filteredCustomTesters)) {
      return false;
    }
  }
  aStack.pop();
  bStack.pop();
  return true;
}
function hasPropertyInObject(object, key) {
  const shouldTerminate = !object || typeof object !== "object" || object === Object.prototype;
  if (shouldTerminate) {
    return false;
  }
  return Object.hasOwn(object, key) || hasPropertyInObject(Object.getPrototypeOf(object), key);
}
function isObjectWithKeys(a) {
  return isObject(a) && !isError(a) && !Array.isArray(a) && !(a instanceof Date) && !(a instanceof Set) && !(a instanceof Map);
}
function subsetEquality(object, subset, customTesters = []) {
  const filteredCustomTesters = customTesters.filter((t2) => t2 !== subsetEquality);
  const subsetEqualityWithContext = (seenReferences = /* @__PURE__ */ new WeakMap()) => (object2, subset2) => {
    if (!isObjectWithKeys(subset2)) {
      return void 0;
    }
    return Object.keys(subset2).every((key) => {
      if (subset2[key] != null && typeof subset2[key] === "object") {
        if (seenReferences.has(subset2[key])) {
          return equals(object2[key], subset2[key], filteredCustomTesters);
        }
        seenReferences.set(subset2[key], true);
      }
      const result = object2 != null && hasPropertyInObject(object2, key) && equals(object2[key], subset2[key], [...filteredCustomTesters, subsetEqualityWithContext(seenReferences)]);
      seenReferences.delete(subset2[key]);
      return result;
    });
  };
  return subsetEqualityWithContext()(object, subset);
}
function typeEquality(a, b2) {
  if (a == null || b2 == null || a.constructor === b2.constructor) {
    return void 0;
  }
  return false;
}
function arrayBufferEquality(a, b2) {
  let dataViewA = a;
  let dataViewB = b2;
  if (!(a instanceof DataView && b2 instanceof DataView)) {
    if (!(a instanceof ArrayBuffer) || !(b2 instanceof ArrayBuffer)) {
      return void 0;
    }
    try {
      dataViewA = new DataView(a);
      dataViewB = new DataView(b2);
    } catch {
      return void 0;
    }
  }
  if (dataViewA.byteLength !== dataViewB.byteLength) {
    return false;
  }
  for (let i2 = 0; i2 < dataViewA.byteLength; i2++) {
    if (dataViewA.getUint8(i2) !== dataViewB.getUint8(i2)) {
      return false;
    }
  }
  return true;
}
function sparseArrayEquality(a, b2, customTesters = []) {
  if (!Array.isArray(a) || !Array.isArray(b2)) {
    return void 0;
  }
  const aKeys = Object.keys(a);
  const bKeys = Object.keys(b2);
  const filteredCustomTesters = customTesters.filter((t2) => t2 !== sparseArrayEquality);
  return equals(a, b2, filteredCustomTesters, true) && equals(aKeys, bKeys);
}
function generateToBeMessage(deepEqualityName, expected = "#{this}", actual = "#{exp}") {
  const toBeMessage = `expected ${expected} to be ${actual} // Object.is equality`;
  if (["toStrictEqual", "toEqual"].includes(deepEqualityName)) {
    return `${toBeMessage}

If it should pass with deep equality, replace "toBe" with "${deepEqualityName}"

Expected: ${expected}
Received: serializes to the same string
`;
  }
  return toBeMessage;
}
function pluralize(word, count3) {
  return `${count3} ${word}${count3 === 1 ? "" : "s"}`;
}
function getObjectKeys(object) {
  return [...Object.keys(object), ...Object.getOwnPropertySymbols(object).filter((s) => Object.getOwnPropertyDescriptor(object, s)?.enumerable)];
}
function getObjectSubset(object, subset, customTesters) {
  let stripped = 0;
  const getObjectSubsetWithContext = (seenReferences = /* @__PURE__ */ new WeakMap()) => (object2, subset2) => {
    if (Array.isArray(object2)) {
      if (Array.isArray(subset2) && subset2.length === object2.length) {
        return subset2.map((sub, i2) => getObjectSubsetWithContext(seenReferences)(object2[i2], sub));
      }
    } else if (object2 instanceof Date) {
      return object2;
    } else if (isObject(object2) && isObject(subset2)) {
      if (equals(object2, subset2, [
        ...customTesters,
        iterableEquality,
        subsetEquality
      ])) {
        return subset2;
      }
      const trimmed = {};
      seenReferences.set(object2, trimmed);
      if (typeof object2.constructor === "function" && typeof object2.constructor.name === "string") {
        Object.defineProperty(trimmed, "constructor", {
          enumerable: false,
          value: object2.constructor
        });
      }
      for (const key of getObjectKeys(object2)) {
        if (hasPropertyInObject(subset2, key)) {
          trimmed[key] = seenReferences.has(object2[key]) ? seenReferences.get(object2[key]) : getObjectSubsetWithContext(seenReferences)(object2[key], subset2[key]);
        } else {
          if (!seenReferences.has(object2[key])) {
            stripped += 1;
            if (isObject(object2[key])) {
              stripped += getObjectKeys(object2[key]).length;
            }
            getObjectSubsetWithContext(seenReferences)(object2[key], subset2[key]);
          }
        }
      }
      if (getObjectKeys(trimmed).length > 0) {
        return trimmed;
      }
    }
    return object2;
  };
  return {
    subset: getObjectSubsetWithContext()(object, subset),
    stripped
  };
}
function isStandardSchema(obj) {
  return !!obj && (typeof obj === "object" || typeof obj === "function") && obj["~standard"] && typeof obj["~standard"].validate === "function";
}
if (!Object.hasOwn(globalThis, MATCHERS_OBJECT)) {
  const globalState = /* @__PURE__ */ new WeakMap();
  const matchers = /* @__PURE__ */ Object.create(null);
  const customEqualityTesters = [];
  const asymmetricMatchers = /* @__PURE__ */ Object.create(null);
  Object.defineProperty(globalThis, MATCHERS_OBJECT, { get: () => globalState });
  Object.defineProperty(globalThis, JEST_MATCHERS_OBJECT, {
    configurable: true,
    get: () => ({
      state: globalState.get(globalThis[GLOBAL_EXPECT]),
      matchers,
      customEqualityTesters
    })
  });
  Object.defineProperty(globalThis, ASYMMETRIC_MATCHERS_OBJECT, { get: () => asymmetricMatchers });
}
function getState(expect3) {
  return globalThis[MATCHERS_OBJECT].get(expect3);
}
var AsymmetricMatcher3 = class {
  // should have "jest" to be compatible with its ecosystem
  $$typeof = /* @__PURE__ */ Symbol.for("jest.asymmetricMatcher");
  constructor(sample, inverse = false) {
    this.sample = sample;
    this.inverse = inverse;
  }
  getMatcherContext(expect3) {
    return {
      ...getState(expect3 || globalThis[GLOBAL_EXPECT]),
      equals,
      isNot: this.inverse,
      customTesters: getCustomEqualityTesters(),
      utils: {
        ...getMatcherUtils(),
        diff,
        stringify,
        iterableEquality,
        subsetEquality
      }
    };
  }
};
AsymmetricMatcher3.prototype[/* @__PURE__ */ Symbol.for("chai/inspect")] = function(options) {
  const result = stringify(this, options.depth, { min: true });
  if (result.length <= options.truncate) {
    return result;
  }
  return `${this.toString()}{\u2026}`;
};
var StringContaining = class extends AsymmetricMatcher3 {
  constructor(sample, inverse = false) {
    if (!isA("String", sample)) {
      throw new Error("Expected is not a string");
    }
    super(sample, inverse);
  }
  asymmetricMatch(other) {
    const result = isA("String", other) && other.includes(this.sample);
    return this.inverse ? !result : result;
  }
  toString() {
    return `String${this.inverse ? "Not" : ""}Containing`;
  }
  getExpectedType() {
    return "string";
  }
};
var Anything = class extends AsymmetricMatcher3 {
  asymmetricMatch(other) {
    return other != null;
  }
  toString() {
    return "Anything";
  }
  toAsymmetricMatcher() {
    return "Anything";
  }
};
var ObjectContaining = class extends AsymmetricMatcher3 {
  constructor(sample, inverse = false) {
    super(sample, inverse);
  }
  getPrototype(obj) {
    if (Object.getPrototypeOf) {
      return Object.getPrototypeOf(obj);
    }
    if (obj.constructor.prototype === obj) {
      return null;
    }
    return obj.constructor.prototype;
  }
  hasProperty(obj, property) {
    if (!obj) {
      return false;
    }
    if (Object.hasOwn(obj, property)) {
      return true;
    }
    return this.hasProperty(this.getPrototype(obj), property);
  }
  getProperties(obj) {
    return [...Object.keys(obj), ...Object.getOwnPropertySymbols(obj).filter((s) => Object.getOwnPropertyDescriptor(obj, s)?.enumerable)];
  }
  asymmetricMatch(other, customTesters) {
    if (typeof this.sample !== "object") {
      throw new TypeError(`You must provide an object to ${this.toString()}, not '${typeof this.sample}'.`);
    }
    let result = true;
    const properties = this.getProperties(this.sample);
    for (const property of properties) {
      if (!this.hasProperty(other, property)) {
        result = false;
        break;
      }
      const value = this.sample[property];
      const otherValue = other[property];
      if (!equals(value, otherValue, customTesters)) {
        result = false;
        break;
      }
    }
    return this.inverse ? !result : result;
  }
  toString() {
    return `Object${this.inverse ? "Not" : ""}Containing`;
  }
  getExpectedType() {
    return "object";
  }
};
var ArrayContaining = class extends AsymmetricMatcher3 {
  constructor(sample, inverse = false) {
    super(sample, inverse);
  }
  asymmetricMatch(other, customTesters) {
    if (!Array.isArray(this.sample)) {
      throw new TypeError(`You must provide an array to ${this.toString()}, not '${typeof this.sample}'.`);
    }
    const result = this.sample.length === 0 || Array.isArray(other) && this.sample.every((item) => other.some((another) => equals(item, another, customTesters)));
    return this.inverse ? !result : result;
  }
  toString() {
    return `Array${this.inverse ? "Not" : ""}Containing`;
  }
  getExpectedType() {
    return "array";
  }
};
var Any = class extends AsymmetricMatcher3 {
  constructor(sample) {
    if (typeof sample === "undefined") {
      throw new TypeError("any() expects to be passed a constructor function. Please pass one or use anything() to match any object.");
    }
    super(sample);
  }
  fnNameFor(func) {
    if (func.name) {
      return func.name;
    }
    const functionToString2 = Function.prototype.toString;
    const matches = functionToString2.call(func).match(/^(?:async)?\s*function\s*(?:\*\s*)?([\w$]+)\s*\(/);
    return matches ? matches[1] : "<anonymous>";
  }
  asymmetricMatch(other) {
    if (this.sample === String) {
      return typeof other == "string" || other instanceof String;
    }
    if (this.sample === Number) {
      return typeof other == "number" || other instanceof Number;
    }
    if (this.sample === Function) {
      return typeof other == "function" || typeof other === "function";
    }
    if (this.sample === Boolean) {
      return typeof other == "boolean" || other instanceof Boolean;
    }
    if (this.sample === BigInt) {
      return typeof other == "bigint" || other instanceof BigInt;
    }
    if (this.sample === Symbol) {
      return typeof other == "symbol" || other instanceof Symbol;
    }
    if (this.sample === Object) {
      return typeof other == "object";
    }
    return other instanceof this.sample;
  }
  toString() {
    return "Any";
  }
  getExpectedType() {
    if (this.sample === String) {
      return "string";
    }
    if (this.sample === Number) {
      return "number";
    }
    if (this.sample === Function) {
      return "function";
    }
    if (this.sample === Object) {
      return "object";
    }
    if (this.sample === Boolean) {
      return "boolean";
    }
    return this.fnNameFor(this.sample);
  }
  toAsymmetricMatcher() {
    return `Any<${this.fnNameFor(this.sample)}>`;
  }
};
var StringMatching = class extends AsymmetricMatcher3 {
  constructor(sample, inverse = false) {
    if (!isA("String", sample) && !isA("RegExp", sample)) {
      throw new Error("Expected is not a String or a RegExp");
    }
    super(new RegExp(sample), inverse);
  }
  asymmetricMatch(other) {
    const result = isA("String", other) && this.sample.test(other);
    return this.inverse ? !result : result;
  }
  toString() {
    return `String${this.inverse ? "Not" : ""}Matching`;
  }
  getExpectedType() {
    return "string";
  }
};
var CloseTo = class extends AsymmetricMatcher3 {
  precision;
  constructor(sample, precision = 2, inverse = false) {
    if (!isA("Number", sample)) {
      throw new Error("Expected is not a Number");
    }
    if (!isA("Number", precision)) {
      throw new Error("Precision is not a Number");
    }
    super(sample);
    this.inverse = inverse;
    this.precision = precision;
  }
  asymmetricMatch(other) {
    if (!isA("Number", other)) {
      return false;
    }
    let result = false;
    if (other === Number.POSITIVE_INFINITY && this.sample === Number.POSITIVE_INFINITY) {
      result = true;
    } else if (other === Number.NEGATIVE_INFINITY && this.sample === Number.NEGATIVE_INFINITY) {
      result = true;
    } else {
      result = Math.abs(this.sample - other) < 10 ** -this.precision / 2;
    }
    return this.inverse ? !result : result;
  }
  toString() {
    return `Number${this.inverse ? "Not" : ""}CloseTo`;
  }
  getExpectedType() {
    return "number";
  }
  toAsymmetricMatcher() {
    return [
      this.toString(),
      this.sample,
      `(${pluralize("digit", this.precision)})`
    ].join(" ");
  }
};
var SchemaMatching = class extends AsymmetricMatcher3 {
  result;
  constructor(sample, inverse = false) {
    if (!isStandardSchema(sample)) {
      throw new TypeError("SchemaMatching expected to receive a Standard Schema.");
    }
    super(sample, inverse);
  }
  asymmetricMatch(other) {
    const result = this.sample["~standard"].validate(other);
    if (result instanceof Promise) {
      throw new TypeError("Async schema validation is not supported in asymmetric matchers.");
    }
    this.result = result;
    const pass = !this.result.issues || this.result.issues.length === 0;
    return this.inverse ? !pass : pass;
  }
  toString() {
    return `Schema${this.inverse ? "Not" : ""}Matching`;
  }
  getExpectedType() {
    return "object";
  }
  toAsymmetricMatcher() {
    const { utils } = this.getMatcherContext();
    const issues = this.result?.issues || [];
    if (issues.length > 0) {
      return `${this.toString()} ${utils.stringify(this.result, void 0, { printBasicPrototype: false })}`;
    }
    return this.toString();
  }
};
var JestAsymmetricMatchers = (chai, utils) => {
  utils.addMethod(chai.expect, "anything", () => new Anything());
  utils.addMethod(chai.expect, "any", (expected) => new Any(expected));
  utils.addMethod(chai.expect, "stringContaining", (expected) => new StringContaining(expected));
  utils.addMethod(chai.expect, "objectContaining", (expected) => new ObjectContaining(expected));
  utils.addMethod(chai.expect, "arrayContaining", (expected) => new ArrayContaining(expected));
  utils.addMethod(chai.expect, "stringMatching", (expected) => new StringMatching(expected));
  utils.addMethod(chai.expect, "closeTo", (expected, precision) => new CloseTo(expected, precision));
  utils.addMethod(chai.expect, "schemaMatching", (expected) => new SchemaMatching(expected));
  chai.expect.not = {
    stringContaining: (expected) => new StringContaining(expected, true),
    objectContaining: (expected) => new ObjectContaining(expected, true),
    arrayContaining: (expected) => new ArrayContaining(expected, true),
    stringMatching: (expected) => new StringMatching(expected, true),
    closeTo: (expected, precision) => new CloseTo(expected, precision, true),
    schemaMatching: (expected) => new SchemaMatching(expected, true)
  };
};
function createAssertionMessage(util, assertion, hasArgs) {
  const soft = util.flag(assertion, "soft") ? ".soft" : "";
  const not = util.flag(assertion, "negate") ? "not." : "";
  const name = `${util.flag(assertion, "_name")}(${hasArgs ? "expected" : ""})`;
  const promiseName = util.flag(assertion, "promise");
  const promise = promiseName ? `.${promiseName}` : "";
  return `expect${soft}(actual)${promise}.${not}${name}`;
}
function recordAsyncExpect(_test, promise, assertion, error, isSoft) {
  const test3 = _test;
  if (test3 && promise instanceof Promise) {
    promise = promise.finally(() => {
      if (!test3.promises) {
        return;
      }
      const index2 = test3.promises.indexOf(promise);
      if (index2 !== -1) {
        test3.promises.splice(index2, 1);
      }
    });
    if (!test3.promises) {
      test3.promises = [];
    }
    if (isSoft) {
      promise = promise.then(noop, (err) => {
        handleTestError(test3, err);
      });
    }
    test3.promises.push(promise);
    let resolved = false;
    test3.onFinished ??= [];
    test3.onFinished.push(() => {
      if (!resolved) {
        const processor = globalThis.__vitest_worker__?.onFilterStackTrace || ((s) => s || "");
        const stack2 = processor(error.stack);
        console.warn([
          `Promise returned by \`${assertion}\` was not awaited. `,
          "Vitest currently auto-awaits hanging assertions at the end of the test, but this will cause the test to fail in the next Vitest major. ",
          "Please remember to await the assertion.\n",
          stack2
        ].join(""));
      }
    });
    return {
      then(onFulfilled, onRejected) {
        resolved = true;
        return promise.then(onFulfilled, onRejected);
      },
      catch(onRejected) {
        resolved = true;
        return promise.catch(onRejected);
      },
      finally(onFinally) {
        resolved = true;
        return promise.finally(onFinally);
      },
      [Symbol.toStringTag]: "Promise"
    };
  }
  return promise;
}
function handleTestError(test3, err) {
  test3.result ||= { state: "fail" };
  test3.result.state = "fail";
  test3.result.errors ||= [];
  test3.result.errors.push(processError(err));
}
function wrapAssertion(utils, name, fn) {
  return function(...args) {
    if (name !== "withTest") {
      utils.flag(this, "_name", name);
    }
    if (!utils.flag(this, "soft")) {
      try {
        return fn.apply(this, args);
      } finally {
      }
    }
    const test3 = utils.flag(this, "vitest-test");
    if (!test3) {
      throw new Error("expect.soft() can only be used inside a test");
    }
    try {
      const result = fn.apply(this, args);
      if (result && typeof result === "object" && typeof result.then === "function") {
        return result.then(noop, (err) => {
          handleTestError(test3, err);
        });
      }
      return result;
    } catch (err) {
      handleTestError(test3, err);
    }
  };
}
var JestChaiExpect = (chai, utils) => {
  const { AssertionError: AssertionError2 } = chai;
  const customTesters = getCustomEqualityTesters();
  function def(name, fn) {
    const addMethod2 = (n) => {
      const softWrapper = wrapAssertion(utils, n, fn);
      utils.addMethod(chai.Assertion.prototype, n, softWrapper);
      utils.addMethod(globalThis[JEST_MATCHERS_OBJECT].matchers, n, softWrapper);
    };
    if (Array.isArray(name)) {
      name.forEach((n) => addMethod2(n));
    } else {
      addMethod2(name);
    }
  }
  [
    "throw",
    "throws",
    "Throw"
  ].forEach((m) => {
    utils.overwriteMethod(chai.Assertion.prototype, m, (_super) => {
      return function(...args) {
        const promise = utils.flag(this, "promise");
        const object = utils.flag(this, "object");
        const isNot = utils.flag(this, "negate");
        if (promise === "rejects") {
          utils.flag(this, "object", () => {
            throw object;
          });
        } else if (promise === "resolves" && typeof object !== "function") {
          if (!isNot) {
            const message = utils.flag(this, "message") || "expected promise to throw an error, but it didn't";
            const error = { showDiff: false };
            throw new AssertionError2(message, error, utils.flag(this, "ssfi"));
          } else {
            return;
          }
        }
        _super.apply(this, args);
      };
    });
  });
  def("withTest", function(test3) {
    utils.flag(this, "vitest-test", test3);
    return this;
  });
  def("toEqual", function(expected) {
    const actual = utils.flag(this, "object");
    const equal = equals(actual, expected, [...customTesters, iterableEquality]);
    return this.assert(equal, "expected #{this} to deeply equal #{exp}", "expected #{this} to not deeply equal #{exp}", expected, actual);
  });
  def("toStrictEqual", function(expected) {
    const obj = utils.flag(this, "object");
    const equal = equals(obj, expected, [
      ...customTesters,
      iterableEquality,
      typeEquality,
      sparseArrayEquality,
      arrayBufferEquality
    ], true);
    return this.assert(equal, "expected #{this} to strictly equal #{exp}", "expected #{this} to not strictly equal #{exp}", expected, obj);
  });
  def("toBe", function(expected) {
    const actual = this._obj;
    const pass = Object.is(actual, expected);
    let deepEqualityName = "";
    if (!pass) {
      const toStrictEqualPass = equals(actual, expected, [
        ...customTesters,
        iterableEquality,
        typeEquality,
        sparseArrayEquality,
        arrayBufferEquality
      ], true);
      if (toStrictEqualPass) {
        deepEqualityName = "toStrictEqual";
      } else {
        const toEqualPass = equals(actual, expected, [...customTesters, iterableEquality]);
        if (toEqualPass) {
          deepEqualityName = "toEqual";
        }
      }
    }
    return this.assert(pass, generateToBeMessage(deepEqualityName), "expected #{this} not to be #{exp} // Object.is equality", expected, actual);
  });
  def("toMatchObject", function(expected) {
    const actual = this._obj;
    const pass = equals(actual, expected, [
      ...customTesters,
      iterableEquality,
      subsetEquality
    ]);
    const isNot = utils.flag(this, "negate");
    const { subset: actualSubset, stripped } = getObjectSubset(actual, expected, customTesters);
    if (pass && isNot || !pass && !isNot) {
      const msg = utils.getMessage(this, [
        pass,
        "expected #{this} to match object #{exp}",
        "expected #{this} to not match object #{exp}",
        expected,
        actualSubset,
        false
      ]);
      const message = stripped === 0 ? msg : `${msg}
(${stripped} matching ${stripped === 1 ? "property" : "properties"} omitted from actual)`;
      throw new AssertionError2(message, {
        showDiff: true,
        expected,
        actual: actualSubset
      });
    }
  });
  def("toMatch", function(expected) {
    const actual = this._obj;
    if (typeof actual !== "string") {
      throw new TypeError(`.toMatch() expects to receive a string, but got ${typeof actual}`);
    }
    return this.assert(typeof expected === "string" ? actual.includes(expected) : actual.match(expected), `expected #{this} to match #{exp}`, `expected #{this} not to match #{exp}`, expected, actual);
  });
  def("toContain", function(item) {
    const actual = this._obj;
    if (typeof Node !== "undefined" && actual instanceof Node) {
      if (!(item instanceof Node)) {
        throw new TypeError(`toContain() expected a DOM node as the argument, but got ${typeof item}`);
      }
      return this.assert(actual.contains(item), "expected #{this} to contain element #{exp}", "expected #{this} not to contain element #{exp}", item, actual);
    }
    if (typeof DOMTokenList !== "undefined" && actual instanceof DOMTokenList) {
      assertTypes(item, "class name", ["string"]);
      const isNot = utils.flag(this, "negate");
      const expectedClassList = isNot ? actual.value.replace(item, "").trim() : `${actual.value} ${item}`;
      return this.assert(actual.contains(item), `expected "${actual.value}" to contain "${item}"`, `expected "${actual.value}" not to contain "${item}"`, expectedClassList, actual.value);
    }
    if (typeof actual === "string" && typeof item === "string") {
      return this.assert(actual.includes(item), `expected #{this} to contain #{exp}`, `expected #{this} not to contain #{exp}`, item, actual);
    }
    if (actual != null && typeof actual !== "string") {
      utils.flag(this, "object", Array.from(actual));
    }
    return this.contain(item);
  });
  def("toContainEqual", function(expected) {
    const obj = utils.flag(this, "object");
    const index2 = Array.from(obj).findIndex((item) => {
      return equals(item, expected, customTesters);
    });
    this.assert(index2 !== -1, "expected #{this} to deep equally contain #{exp}", "expected #{this} to not deep equally contain #{exp}", expected);
  });
  def("toBeTruthy", function() {
    const obj = utils.flag(this, "object");
    this.assert(Boolean(obj), "expected #{this} to be truthy", "expected #{this} to not be truthy", true, obj);
  });
  def("toBeFalsy", function() {
    const obj = utils.flag(this, "object");
    this.assert(!obj, "expected #{this} to be falsy", "expected #{this} to not be falsy", false, obj);
  });
  def("toBeGreaterThan", function(expected) {
    const actual = this._obj;
    assertTypes(actual, "actual", ["number", "bigint"]);
    assertTypes(expected, "expected", ["number", "bigint"]);
    return this.assert(actual > expected, `expected ${actual} to be greater than ${expected}`, `expected ${actual} to be not greater than ${expected}`, expected, actual, false);
  });
  def("toBeGreaterThanOrEqual", function(expected) {
    const actual = this._obj;
    assertTypes(actual, "actual", ["number", "bigint"]);
    assertTypes(expected, "expected", ["number", "bigint"]);
    return this.assert(actual >= expected, `expected ${actual} to be greater than or equal to ${expected}`, `expected ${actual} to be not greater than or equal to ${expected}`, expected, actual, false);
  });
  def("toBeLessThan", function(expected) {
    const actual = this._obj;
    assertTypes(actual, "actual", ["number", "bigint"]);
    assertTypes(expected, "expected", ["number", "bigint"]);
    return this.assert(actual < expected, `expected ${actual} to be less than ${expected}`, `expected ${actual} to be not less than ${expected}`, expected, actual, false);
  });
  def("toBeLessThanOrEqual", function(expected) {
    const actual = this._obj;
    assertTypes(actual, "actual", ["number", "bigint"]);
    assertTypes(expected, "expected", ["number", "bigint"]);
    return this.assert(actual <= expected, `expected ${actual} to be less than or equal to ${expected}`, `expected ${actual} to be not less than or equal to ${expected}`, expected, actual, false);
  });
  def("toBeNaN", function() {
    const obj = utils.flag(this, "object");
    this.assert(Number.isNaN(obj), "expected #{this} to be NaN", "expected #{this} not to be NaN", Number.NaN, obj);
  });
  def("toBeUndefined", function() {
    const obj = utils.flag(this, "object");
    this.assert(void 0 === obj, "expected #{this} to be undefined", "expected #{this} not to be undefined", void 0, obj);
  });
  def("toBeNull", function() {
    const obj = utils.flag(this, "object");
    this.assert(obj === null, "expected #{this} to be null", "expected #{this} not to be null", null, obj);
  });
  def("toBeNullable", function() {
    const obj = utils.flag(this, "object");
    this.assert(obj == null, "expected #{this} to be nullish", "expected #{this} not to be nullish", null, obj);
  });
  def("toBeDefined", function() {
    const obj = utils.flag(this, "object");
    this.assert(typeof obj !== "undefined", "expected #{this} to be defined", "expected #{this} to be undefined", obj);
  });
  def("toBeTypeOf", function(expected) {
    const actual = typeof this._obj;
    const equal = expected === actual;
    return this.assert(equal, "expected #{this} to be type of #{exp}", "expected #{this} not to be type of #{exp}", expected, actual);
  });
  def("toBeInstanceOf", function(obj) {
    return this.instanceOf(obj);
  });
  def("toHaveLength", function(length) {
    return this.have.length(length);
  });
  def("toHaveProperty", function(...args) {
    if (Array.isArray(args[0])) {
      args[0] = args[0].map((key) => String(key).replace(/([.[\]])/g, "\\$1")).join(".");
    }
    const actual = this._obj;
    const [propertyName, expected] = args;
    const getValue = () => {
      const hasOwn2 = Object.hasOwn(actual, propertyName);
      if (hasOwn2) {
        return {
          value: actual[propertyName],
          exists: true
        };
      }
      return utils.getPathInfo(actual, propertyName);
    };
    const { value, exists } = getValue();
    const pass = exists && (args.length === 1 || equals(expected, value, customTesters));
    const valueString = args.length === 1 ? "" : ` with value ${utils.objDisplay(expected)}`;
    return this.assert(pass, `expected #{this} to have property "${propertyName}"${valueString}`, `expected #{this} to not have property "${propertyName}"${valueString}`, expected, exists ? value : void 0);
  });
  def("toBeCloseTo", function(received, precision = 2) {
    const expected = this._obj;
    let pass = false;
    let expectedDiff = 0;
    let receivedDiff = 0;
    if (received === Number.POSITIVE_INFINITY && expected === Number.POSITIVE_INFINITY) {
      pass = true;
    } else if (received === Number.NEGATIVE_INFINITY && expected === Number.NEGATIVE_INFINITY) {
      pass = true;
    } else {
      expectedDiff = 10 ** -precision / 2;
      receivedDiff = Math.abs(expected - received);
      pass = receivedDiff < expectedDiff;
    }
    return this.assert(pass, `expected #{this} to be close to #{exp}, received difference is ${receivedDiff}, but expected ${expectedDiff}`, `expected #{this} to not be close to #{exp}, received difference is ${receivedDiff}, but expected ${expectedDiff}`, received, expected, false);
  });
  function assertIsMock(assertion) {
    if (!isMockFunction(assertion._obj)) {
      throw new TypeError(`${utils.inspect(assertion._obj)} is not a spy or a call to a spy!`);
    }
  }
  function getSpy(assertion) {
    assertIsMock(assertion);
    return assertion._obj;
  }
  def(["toHaveBeenCalledTimes", "toBeCalledTimes"], function(number) {
    const spy = getSpy(this);
    const spyName = spy.getMockName();
    const callCount = spy.mock.calls.length;
    return this.assert(callCount === number, `expected "${spyName}" to be called #{exp} times, but got ${callCount} times`, `expected "${spyName}" to not be called #{exp} times`, number, callCount, false);
  });
  def("toHaveBeenCalledOnce", function() {
    const spy = getSpy(this);
    const spyName = spy.getMockName();
    const callCount = spy.mock.calls.length;
    return this.assert(callCount === 1, `expected "${spyName}" to be called once, but got ${callCount} times`, `expected "${spyName}" to not be called once`, 1, callCount, false);
  });
  def(["toHaveBeenCalled", "toBeCalled"], function() {
    const spy = getSpy(this);
    const spyName = spy.getMockName();
    const callCount = spy.mock.calls.length;
    const called = callCount > 0;
    const isNot = utils.flag(this, "negate");
    let msg = utils.getMessage(this, [
      called,
      `expected "${spyName}" to be called at least once`,
      `expected "${spyName}" to not be called at all, but actually been called ${callCount} times`,
      true,
      called
    ]);
    if (called && isNot) {
      msg = formatCalls(spy, msg);
    }
    if (called && isNot || !called && !isNot) {
      throw new AssertionError2(msg);
    }
  });
  function equalsArgumentArray(a, b2) {
    return a.length === b2.length && a.every((aItem, i2) => equals(aItem, b2[i2], [...customTesters, iterableEquality]));
  }
  def(["toHaveBeenCalledWith", "toBeCalledWith"], function(...args) {
    const spy = getSpy(this);
    const spyName = spy.getMockName();
    const pass = spy.mock.calls.some((callArg) => equalsArgumentArray(callArg, args));
    const isNot = utils.flag(this, "negate");
    const msg = utils.getMessage(this, [
      pass,
      `expected "${spyName}" to be called with arguments: #{exp}`,
      `expected "${spyName}" to not be called with arguments: #{exp}`,
      args
    ]);
    if (pass && isNot || !pass && !isNot) {
      throw new AssertionError2(formatCalls(spy, msg, args));
    }
  });
  def("toHaveBeenCalledExactlyOnceWith", function(...args) {
    const spy = getSpy(this);
    const spyName = spy.getMockName();
    const callCount = spy.mock.calls.length;
    const hasCallWithArgs = spy.mock.calls.some((callArg) => equalsArgumentArray(callArg, args));
    const pass = hasCallWithArgs && callCount === 1;
    const isNot = utils.flag(this, "negate");
    const msg = utils.getMessage(this, [
      pass,
      `expected "${spyName}" to be called once with arguments: #{exp}`,
      `expected "${spyName}" to not be called once with arguments: #{exp}`,
      args
    ]);
    if (pass && isNot || !pass && !isNot) {
      throw new AssertionError2(formatCalls(spy, msg, args));
    }
  });
  def("toHaveBeenNthCalledWith", function(times, ...args) {
    const spy = getSpy(this);
    const spyName = spy.getMockName();
    const nthCall = spy.mock.calls[times - 1];
    const callCount = spy.mock.calls.length;
    const isCalled = times <= callCount;
    this.assert(nthCall && equalsArgumentArray(nthCall, args), `expected ${ordinal(times)} "${spyName}" call to have been called with #{exp}${isCalled ? `` : `, but called only ${callCount} times`}`, `expected ${ordinal(times)} "${spyName}" call to not have been called with #{exp}`, args, nthCall, isCalled);
  });
  def("toHaveBeenLastCalledWith", function(...args) {
    const spy = getSpy(this);
    const spyName = spy.getMockName();
    const lastCall = spy.mock.calls.at(-1);
    this.assert(lastCall && equalsArgumentArray(lastCall, args), `expected last "${spyName}" call to have been called with #{exp}`, `expected last "${spyName}" call to not have been called with #{exp}`, args, lastCall);
  });
  function isSpyCalledBeforeAnotherSpy(beforeSpy, afterSpy, failIfNoFirstInvocation) {
    const beforeInvocationCallOrder = beforeSpy.mock.invocationCallOrder;
    const afterInvocationCallOrder = afterSpy.mock.invocationCallOrder;
    if (beforeInvocationCallOrder.length === 0) {
      return !failIfNoFirstInvocation;
    }
    if (afterInvocationCallOrder.length === 0) {
      return false;
    }
    return beforeInvocationCallOrder[0] < afterInvocationCallOrder[0];
  }
  def(["toHaveBeenCalledBefore"], function(resultSpy, failIfNoFirstInvocation = true) {
    const expectSpy = getSpy(this);
    if (!isMockFunction(resultSpy)) {
      throw new TypeError(`${utils.inspect(resultSpy)} is not a spy or a call to a spy`);
    }
    this.assert(isSpyCalledBeforeAnotherSpy(expectSpy, resultSpy, failIfNoFirstInvocation), `expected "${expectSpy.getMockName()}" to have been called before "${resultSpy.getMockName()}"`, `expected "${expectSpy.getMockName()}" to not have been called before "${resultSpy.getMockName()}"`, resultSpy, expectSpy);
  });
  def(["toHaveBeenCalledAfter"], function(resultSpy, failIfNoFirstInvocation = true) {
    const expectSpy = getSpy(this);
    if (!isMockFunction(resultSpy)) {
      throw new TypeError(`${utils.inspect(resultSpy)} is not a spy or a call to a spy`);
    }
    this.assert(isSpyCalledBeforeAnotherSpy(resultSpy, expectSpy, failIfNoFirstInvocation), `expected "${expectSpy.getMockName()}" to have been called after "${resultSpy.getMockName()}"`, `expected "${expectSpy.getMockName()}" to not have been called after "${resultSpy.getMockName()}"`, resultSpy, expectSpy);
  });
  def(["toThrow", "toThrowError"], function(expected) {
    if (typeof expected === "string" || typeof expected === "undefined" || expected instanceof RegExp) {
      return this.throws(expected === "" ? /^$/ : expected);
    }
    const obj = this._obj;
    const promise = utils.flag(this, "promise");
    const isNot = utils.flag(this, "negate");
    let thrown = null;
    if (promise === "rejects") {
      thrown = obj;
    } else if (promise === "resolves" && typeof obj !== "function") {
      if (!isNot) {
        const message = utils.flag(this, "message") || "expected promise to throw an error, but it didn't";
        const error = { showDiff: false };
        throw new AssertionError2(message, error, utils.flag(this, "ssfi"));
      } else {
        return;
      }
    } else {
      let isThrow = false;
      try {
        obj();
      } catch (err) {
        isThrow = true;
        thrown = err;
      }
      if (!isThrow && !isNot) {
        const message = utils.flag(this, "message") || "expected function to throw an error, but it didn't";
        const error = { showDiff: false };
        throw new AssertionError2(message, error, utils.flag(this, "ssfi"));
      }
    }
    if (typeof expected === "function") {
      const name = expected.name || expected.prototype.constructor.name;
      return this.assert(thrown && thrown instanceof expected, `expected error to be instance of ${name}`, `expected error not to be instance of ${name}`, expected, thrown);
    }
    if (isError(expected)) {
      const equal2 = equals(thrown, expected, [...customTesters, iterableEquality]);
      return this.assert(equal2, "expected a thrown error to be #{exp}", "expected a thrown error not to be #{exp}", expected, thrown);
    }
    if (typeof expected === "object" && "asymmetricMatch" in expected && typeof expected.asymmetricMatch === "function") {
      const matcher = expected;
      return this.assert(thrown && matcher.asymmetricMatch(thrown), "expected error to match asymmetric matcher", "expected error not to match asymmetric matcher", matcher, thrown);
    }
    const equal = equals(thrown, expected, [...customTesters, iterableEquality]);
    return this.assert(equal, "expected a thrown value to equal #{exp}", "expected a thrown value not to equal #{exp}", expected, thrown);
  });
  [{
    name: "toHaveResolved",
    condition: (spy) => spy.mock.settledResults.length > 0 && spy.mock.settledResults.some(({ type: type3 }) => type3 === "fulfilled"),
    action: "resolved"
  }, {
    name: ["toHaveReturned", "toReturn"],
    condition: (spy) => spy.mock.calls.length > 0 && spy.mock.results.some(({ type: type3 }) => type3 !== "throw"),
    action: "called"
  }].forEach(({ name, condition, action }) => {
    def(name, function() {
      const spy = getSpy(this);
      const spyName = spy.getMockName();
      const pass = condition(spy);
      this.assert(pass, `expected "${spyName}" to be successfully ${action} at least once`, `expected "${spyName}" to not be successfully ${action}`, pass, !pass, false);
    });
  });
  [{
    name: "toHaveResolvedTimes",
    condition: (spy, times) => spy.mock.settledResults.reduce((s, { type: type3 }) => type3 === "fulfilled" ? ++s : s, 0) === times,
    action: "resolved"
  }, {
    name: ["toHaveReturnedTimes", "toReturnTimes"],
    condition: (spy, times) => spy.mock.results.reduce((s, { type: type3 }) => type3 === "throw" ? s : ++s, 0) === times,
    action: "called"
  }].forEach(({ name, condition, action }) => {
    def(name, function(times) {
      const spy = getSpy(this);
      const spyName = spy.getMockName();
      const pass = condition(spy, times);
      this.assert(pass, `expected "${spyName}" to be successfully ${action} ${times} times`, `expected "${spyName}" to not be successfully ${action} ${times} times`, `expected resolved times: ${times}`, `received resolved times: ${pass}`, false);
    });
  });
  [{
    name: "toHaveResolvedWith",
    condition: (spy, value) => spy.mock.settledResults.some(({ type: type3, value: result }) => type3 === "fulfilled" && equals(value, result)),
    action: "resolve"
  }, {
    name: ["toHaveReturnedWith", "toReturnWith"],
    condition: (spy, value) => spy.mock.results.some(({ type: type3, value: result }) => type3 === "return" && equals(value, result)),
    action: "return"
  }].forEach(({ name, condition, action }) => {
    def(name, function(value) {
      const spy = getSpy(this);
      const pass = condition(spy, value);
      const isNot = utils.flag(this, "negate");
      if (pass && isNot || !pass && !isNot) {
        const spyName = spy.getMockName();
        const msg = utils.getMessage(this, [
          pass,
          `expected "${spyName}" to ${action} with: #{exp} at least once`,
          `expected "${spyName}" to not ${action} with: #{exp}`,
          value
        ]);
        const results = action === "return" ? spy.mock.results : spy.mock.settledResults;
        throw new AssertionError2(formatReturns(spy, results, msg, value));
      }
    });
  });
  [{
    name: "toHaveLastResolvedWith",
    condition: (spy, value) => {
      const result = spy.mock.settledResults.at(-1);
      return Boolean(result && result.type === "fulfilled" && equals(result.value, value));
    },
    action: "resolve"
  }, {
    name: "toHaveLastReturnedWith",
    condition: (spy, value) => {
      const result = spy.mock.results.at(-1);
      return Boolean(result && result.type === "return" && equals(result.value, value));
    },
    action: "return"
  }].forEach(({ name, condition, action }) => {
    def(name, function(value) {
      const spy = getSpy(this);
      const results = action === "return" ? spy.mock.results : spy.mock.settledResults;
      const result = results.at(-1);
      const spyName = spy.getMockName();
      this.assert(condition(spy, value), `expected last "${spyName}" call to ${action} #{exp}`, `expected last "${spyName}" call to not ${action} #{exp}`, value, result?.value);
    });
  });
  [{
    name: "toHaveNthResolvedWith",
    condition: (spy, index2, value) => {
      const result = spy.mock.settledResults[index2 - 1];
      return result && result.type === "fulfilled" && equals(result.value, value);
    },
    action: "resolve"
  }, {
    name: "toHaveNthReturnedWith",
    condition: (spy, index2, value) => {
      const result = spy.mock.results[index2 - 1];
      return result && result.type === "return" && equals(result.value, value);
    },
    action: "return"
  }].forEach(({ name, condition, action }) => {
    def(name, function(nthCall, value) {
      const spy = getSpy(this);
      const spyName = spy.getMockName();
      const results = action === "return" ? spy.mock.results : spy.mock.settledResults;
      const result = results[nthCall - 1];
      const ordinalCall = `${ordinal(nthCall)} call`;
      this.assert(condition(spy, nthCall, value), `expected ${ordinalCall} "${spyName}" call to ${action} #{exp}`, `expected ${ordinalCall} "${spyName}" call to not ${action} #{exp}`, value, result?.value);
    });
  });
  def("withContext", function(context) {
    for (const key in context) {
      utils.flag(this, key, context[key]);
    }
    return this;
  });
  utils.addProperty(chai.Assertion.prototype, "resolves", function __VITEST_RESOLVES__() {
    const error = new Error("resolves");
    utils.flag(this, "promise", "resolves");
    utils.flag(this, "error", error);
    const test3 = utils.flag(this, "vitest-test");
    const obj = utils.flag(this, "object");
    if (utils.flag(this, "poll")) {
      throw new SyntaxError(`expect.poll() is not supported in combination with .resolves`);
    }
    if (typeof obj?.then !== "function") {
      throw new TypeError(`You must provide a Promise to expect() when using .resolves, not '${typeof obj}'.`);
    }
    const proxy = new Proxy(this, { get: (target, key, receiver) => {
      const result = Reflect.get(target, key, receiver);
      if (typeof result !== "function") {
        return result instanceof chai.Assertion ? proxy : result;
      }
      return (...args) => {
        utils.flag(this, "_name", key);
        const promise = Promise.resolve(obj).then((value) => {
          utils.flag(this, "object", value);
          return result.call(this, ...args);
        }, (err) => {
          const _error = new AssertionError2(`promise rejected "${utils.inspect(err)}" instead of resolving`, { showDiff: false });
          _error.cause = err;
          throw _error;
        }).catch((err) => {
          if (isError(err) && error.stack) {
            err.stack = error.stack.replace(error.message, err.message);
          }
          throw err;
        });
        return recordAsyncExpect(test3, promise, createAssertionMessage(utils, this, !!args.length), error, utils.flag(this, "soft"));
      };
    } });
    return proxy;
  });
  utils.addProperty(chai.Assertion.prototype, "rejects", function __VITEST_REJECTS__() {
    const error = new Error("rejects");
    utils.flag(this, "promise", "rejects");
    utils.flag(this, "error", error);
    const test3 = utils.flag(this, "vitest-test");
    const obj = utils.flag(this, "object");
    const wrapper = typeof obj === "function" ? obj() : obj;
    if (utils.flag(this, "poll")) {
      throw new SyntaxError(`expect.poll() is not supported in combination with .rejects`);
    }
    if (typeof wrapper?.then !== "function") {
      throw new TypeError(`You must provide a Promise to expect() when using .rejects, not '${typeof wrapper}'.`);
    }
    const proxy = new Proxy(this, { get: (target, key, receiver) => {
      const result = Reflect.get(target, key, receiver);
      if (typeof result !== "function") {
        return result instanceof chai.Assertion ? proxy : result;
      }
      return (...args) => {
        utils.flag(this, "_name", key);
        const promise = Promise.resolve(wrapper).then((value) => {
          const _error = new AssertionError2(`promise resolved "${utils.inspect(value)}" instead of rejecting`, {
            showDiff: true,
            expected: new Error("rejected promise"),
            actual: value
          });
          throw _error;
        }, (err) => {
          utils.flag(this, "object", err);
          return result.call(this, ...args);
        }).catch((err) => {
          if (isError(err) && error.stack) {
            err.stack = error.stack.replace(error.message, err.message);
          }
          throw err;
        });
        return recordAsyncExpect(test3, promise, createAssertionMessage(utils, this, !!args.length), error, utils.flag(this, "soft"));
      };
    } });
    return proxy;
  });
};
function formatCalls(spy, msg, showActualCall) {
  if (spy.mock.calls.length) {
    msg += $.gray(`

Received:

${spy.mock.calls.map((callArg, i2) => {
      let methodCall = $.bold(`  ${ordinal(i2 + 1)} ${spy.getMockName()} call:

`);
      if (showActualCall) {
        methodCall += diff(showActualCall, callArg, { omitAnnotationLines: true });
      } else {
        methodCall += stringify(callArg).split("\n").map((line2) => `    ${line2}`).join("\n");
      }
      methodCall += "\n";
      return methodCall;
    }).join("\n")}`);
  }
  msg += $.gray(`

Number of calls: ${$.bold(spy.mock.calls.length)}
`);
  return msg;
}
function formatReturns(spy, results, msg, showActualReturn) {
  if (results.length) {
    msg += $.gray(`

Received:

${results.map((callReturn, i2) => {
      let methodCall = $.bold(`  ${ordinal(i2 + 1)} ${spy.getMockName()} call return:

`);
      if (showActualReturn) {
        methodCall += diff(showActualReturn, callReturn.value, { omitAnnotationLines: true });
      } else {
        methodCall += stringify(callReturn).split("\n").map((line2) => `    ${line2}`).join("\n");
      }
      methodCall += "\n";
      return methodCall;
    }).join("\n")}`);
  }
  msg += $.gray(`

Number of calls: ${$.bold(spy.mock.calls.length)}
`);
  return msg;
}
function getMatcherState(assertion, expect3) {
  const obj = assertion._obj;
  const isNot = utils_exports.flag(assertion, "negate");
  const promise = utils_exports.flag(assertion, "promise") || "";
  const customMessage = utils_exports.flag(assertion, "message");
  const jestUtils = {
    ...getMatcherUtils(),
    diff,
    stringify,
    iterableEquality,
    subsetEquality
  };
  let task = utils_exports.flag(assertion, "vitest-test");
  const currentTestName = task?.fullTestName ?? "";
  if (task?.type !== "test") {
    task = void 0;
  }
  const matcherState = {
    ...getState(expect3),
    currentTestName,
    customTesters: getCustomEqualityTesters(),
    isNot,
    utils: jestUtils,
    promise,
    equals,
    suppressedErrors: [],
    soft: utils_exports.flag(assertion, "soft"),
    poll: utils_exports.flag(assertion, "poll"),
    assertion
  };
  Object.assign(matcherState, { task });
  return {
    state: matcherState,
    isNot,
    obj,
    customMessage
  };
}
var JestExtendError = class extends Error {
  constructor(message, actual, expected, __vitest_error_context__) {
    super(message);
    this.actual = actual;
    this.expected = expected;
    this.__vitest_error_context__ = __vitest_error_context__;
  }
};
function JestExtendPlugin(c2, expect3, matchers) {
  return (_, utils) => {
    Object.entries(matchers).forEach(([expectAssertionName, expectAssertion]) => {
      function __VITEST_EXTEND_ASSERTION__(...args) {
        const { state, isNot, obj, customMessage } = getMatcherState(this, expect3);
        const result = expectAssertion.call(state, obj, ...args);
        if (result && typeof result === "object" && typeof result.then === "function") {
          const thenable = result;
          return thenable.then(({ pass: pass2, message: message2, actual: actual2, expected: expected2, meta: meta2 }) => {
            if (pass2 && isNot || !pass2 && !isNot) {
              const errorMessage = (customMessage ? `${customMessage}: ` : "") + message2();
              throw new JestExtendError(errorMessage, actual2, expected2, {
                assertionName: expectAssertionName,
                meta: meta2
              });
            }
          });
        }
        const { pass, message, actual, expected, meta } = result;
        if (pass && isNot || !pass && !isNot) {
          const errorMessage = (customMessage ? `${customMessage}: ` : "") + message();
          throw new JestExtendError(errorMessage, actual, expected, {
            assertionName: expectAssertionName,
            meta
          });
        }
      }
      const softWrapper = wrapAssertion(utils, expectAssertionName, __VITEST_EXTEND_ASSERTION__);
      utils.addMethod(globalThis[JEST_MATCHERS_OBJECT].matchers, expectAssertionName, softWrapper);
      utils.addMethod(c2.Assertion.prototype, expectAssertionName, softWrapper);
      if (expectAssertion.__vitest_poll_takeover__) {
        const addedMethod = c2.Assertion.prototype[expectAssertionName];
        Object.defineProperty(addedMethod, "__vitest_poll_takeover__", { value: true });
      }
      class CustomMatcher extends AsymmetricMatcher3 {
        constructor(inverse = false, ...sample) {
          super(sample, inverse);
        }
        asymmetricMatch(other) {
          const { pass } = expectAssertion.call(this.getMatcherContext(expect3), other, ...this.sample);
          return this.inverse ? !pass : pass;
        }
        toString() {
          return `${this.inverse ? "not." : ""}${expectAssertionName}`;
        }
        getExpectedType() {
          return "any";
        }
        toAsymmetricMatcher() {
          return `${this.toString()}<${this.sample.map((item) => stringify(item)).join(", ")}>`;
        }
      }
      const customMatcher = (...sample) => new CustomMatcher(false, ...sample);
      Object.defineProperty(expect3, expectAssertionName, {
        configurable: true,
        enumerable: true,
        value: customMatcher,
        writable: true
      });
      Object.defineProperty(expect3.not, expectAssertionName, {
        configurable: true,
        enumerable: true,
        value: (...sample) => new CustomMatcher(true, ...sample),
        writable: true
      });
      Object.defineProperty(globalThis[ASYMMETRIC_MATCHERS_OBJECT], expectAssertionName, {
        configurable: true,
        enumerable: true,
        value: customMatcher,
        writable: true
      });
    });
  };
}
var JestExtend = (chai, utils) => {
  utils.addMethod(chai.expect, "extend", (expect3, expects) => {
    use(JestExtendPlugin(chai, expect3, expects));
  });
};

// ../../../tmp/shim.mjs
use(JestExtend);
use(JestChaiExpect);
use(JestAsymmetricMatchers);
var expect2 = (v, m) => expect(v, m);
Object.assign(expect2, expect);
var tests = [];
var stack = [];
var hooks = [];
var filter = process.env.T ? new RegExp(process.env.T) : void 0;
var fmt = (s, row) => {
  let i2 = 0;
  const a = Array.isArray(row) ? row : [row];
  return s.replace(/%s/g, () => String(a[i2++])).replace(/\$(\w+)/g, (_, k) => String(row?.[k]));
};
function describe(name, a, b2) {
  const fn = typeof a === "function" ? a : b2;
  const before = hooks;
  hooks = [...hooks];
  stack.push(name);
  fn();
  stack.pop();
  hooks = before;
}
describe.each = (rows) => (name, a, b2) => {
  const fn = typeof a === "function" ? a : b2;
  for (const row of rows) describe(fmt(name, row), () => fn(...Array.isArray(row) ? row : [row]));
};
describe.skipIf = (c2) => c2 ? Object.assign(() => {
}, { each: () => () => {
} }) : describe;
function it(name, a, b2) {
  const fn = typeof a === "function" ? a : b2;
  tests.push({ name: [...stack, name].join(" > "), fn, after: hooks });
}
it.each = (rows) => (name, a, b2) => {
  const fn = typeof a === "function" ? a : b2;
  for (const row of rows) it(fmt(name, row), () => fn(...Array.isArray(row) ? row : [row]));
};
it.skipIf = (c2) => c2 ? Object.assign(() => {
}, { each: () => () => {
} }) : it;
var afterEach = (fn) => hooks.push(fn);
setTimeout(async () => {
  let failed = 0;
  for (const t2 of tests) {
    if (filter && !filter.test(t2.name)) continue;
    const from = Date.now();
    try {
      await t2.fn();
      if (process.env.V) console.log("ok", t2.name, Date.now() - from);
    } catch (e) {
      failed++;
      console.log("FAILED", t2.name, Date.now() - from, "\n", String(e.stack ?? e).slice(0, 1500), e.actual !== void 0 ? "\nactual " + JSON.stringify(e.actual).slice(0, 1500) : "");
    }
    for (const h2 of t2.after) await h2();
  }
  console.log(`${tests.length} tests, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}, 0);

// src/engines/redis/kind/server.ts
var serverEngines = ["Redis", "Valkey"];
var releases = {
  Redis: {
    program: "redis",
    repository: "docker.io/library/redis",
    versions: "[78][.](0|[1-9][0-9]?)",
    supported: "7 and 8",
    formats: [
      ["7.4", 12],
      ["7.2", 11],
      ["7.0", 10]
    ]
  },
  Valkey: {
    program: "valkey",
    repository: "docker.io/valkey/valkey",
    versions: "(7[.]2|[89][.](0|[1-9][0-9]?))",
    supported: "7.2, 8 and 9",
    formats: [
      ["9.0", 80],
      ["7.2", 11]
    ]
  }
};
var lastCommonFormat = 11;
function firstOfItsOwn(engine) {
  const own = releases[engine].formats.filter(([, format2]) => format2 > lastCommonFormat);
  return own.at(-1)?.[0] ?? "";
}
function atLeast(version2, since) {
  const [major = 0, minor = 0] = version2.split(".").map(Number);
  const [sinceMajor = 0, sinceMinor = 0] = since.split(".").map(Number);
  return major > sinceMajor || major === sinceMajor && minor >= sinceMinor;
}

// src/engines/redis/resources/config.ts
import { createHash } from "node:crypto";

// src/api/duration.ts
var durationPattern = "^[0-9]{1,7}(ms|s|m)$";
var durationSchema = (description, fallback, least, most) => ({
  type: "string",
  description: `${description} From ${least} to ${most}.`,
  default: fallback,
  pattern: durationPattern,
  maxLength: 9,
  "x-kubernetes-validations": [
    {
      rule: `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`,
      message: `must be from ${least} to ${most}`
    }
  ]
});
var milliseconds = { ms: 1, s: 1e3, m: 6e4 };
function durationMs(text2) {
  const match = /^([0-9]+)(ms|s|m)$/.exec(text2);
  const [, amount, unit] = match ?? [];
  if (amount === void 0 || unit === void 0) throw new Error(`${JSON.stringify(text2)} is no duration`);
  return Number(amount) * milliseconds[unit];
}

// src/engines/redis/kind/directives.ts
function isKnown(directive, { engine, version: version2, mode }) {
  if (directive.mode !== void 0 && directive.mode !== mode) return false;
  const range = directive.in?.[engine];
  if (range === void 0) return true;
  if (range === "none") return false;
  const { since, before } = range;
  return (since === void 0 || atLeast(version2, since)) && (before === void 0 || !atLeast(version2, before));
}
var flag3 = (description) => ({ apply: "dynamic", schema: { type: "boolean", description } });
var count = (description, minimum, maximum) => ({ apply: "dynamic", schema: { type: "integer", description, minimum, maximum } });
var choice = (description, values) => ({ apply: "dynamic", schema: { type: "string", description, enum: values } });
var size = (description) => ({
  apply: "dynamic",
  schema: { type: "string", description, pattern: "^[1-9][0-9]{0,7}(kb|mb|gb)$", maxLength: 10 }
});
var largeSize = (description) => ({
  apply: "dynamic",
  schema: { type: "string", description, pattern: "^[1-9][0-9]{0,7}(mb|gb)$", maxLength: 10 }
});
var commandLog = { in: { Redis: "none", Valkey: { since: "8.1" } } };
var day = 86400;
var int32 = 2147483647;
var redisDirectives = {
  maxmemory: size("Memory for data, below the memory limit. 60 % of the memory limit when absent."),
  "maxmemory-clients": largeSize(
    "Memory for the buffers of all clients. If they need more, Redis closes the client with the largest buffers. An eighth of the memory limit when absent."
  ),
  "maxmemory-policy": choice("Which keys Redis evicts when maxmemory is reached.", [
    "noeviction",
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl"
  ]),
  "maxmemory-samples": count("Keys sampled for each eviction.", 1, 64),
  "maxmemory-eviction-tenacity": count("Effort of eviction: 0 for the lowest latency, 100 to ignore latency.", 0, 100),
  "active-expire-effort": count("Effort of the expiry cycle.", 1, 10),
  "lfu-log-factor": count("Saturation of the LFU counter.", 0, 1e3),
  "lfu-decay-time": count("Minutes after which the LFU counter is halved.", 0, 1e4),
  maxclients: count("Maximum number of concurrent client connections.", 128, 65e3),
  timeout: count("Seconds after which an idle connection is closed; 0 for never.", 0, 30 * day),
  "tcp-keepalive": count("Seconds between TCP keepalives; 0 for none.", 0, day),
  "client-query-buffer-limit": largeSize("Maximum size of a command from a client."),
  "proto-max-bulk-len": largeSize("Maximum size of a string in a command."),
  "tracking-table-max-keys": count("Maximum number of keys tracked for client-side caching; 0 for no limit.", 0, int32),
  "notify-keyspace-events": {
    apply: "dynamic",
    schema: {
      type: "string",
      description: "Keyspace events to publish, with the letters of redis.conf. When empty, Redis publishes none.",
      pattern: "^[AKEg$lshzxetdmn]*$",
      maxLength: 16
    }
  },
  appendfsync: choice("When the append-only file is flushed to disk.", ["always", "everysec"]),
  "no-appendfsync-on-rewrite": flag3(
    "Skip flushes during a rewrite: less latency, but up to 30 s of writes can be lost."
  ),
  "auto-aof-rewrite-percentage": count(
    "Growth of the append-only file in percent after which a rewrite starts; 0 for never.",
    0,
    1e4
  ),
  "auto-aof-rewrite-min-size": size("Minimum size of the append-only file for a rewrite."),
  rdbcompression: flag3("Compress strings in snapshots."),
  "repl-backlog-size": size(
    "Size of the replication backlog, from which a replica resumes after a short disconnection."
  ),
  "repl-backlog-ttl": count(
    "Seconds without replicas after which the replication backlog is freed; 0 for never.",
    0,
    30 * day
  ),
  "repl-timeout": count("Seconds without data after which a replication link is closed.", 15, 3600),
  "min-replicas-to-write": count(
    "Number of replicas that must be in sync for the primary to accept writes. When absent, 1 with three or more Redis nodes, otherwise 0.",
    0,
    8
  ),
  "min-replicas-max-lag": count("Maximum lag in seconds of a replica that is in sync.", 1, 3600),
  "replica-lazy-flush": flag3("Free the old dataset of a replica in the background."),
  "lazyfree-lazy-eviction": flag3("Free evicted values in the background."),
  "lazyfree-lazy-expire": flag3("Free expired values in the background."),
  "lazyfree-lazy-server-del": flag3("Free overwritten values in the background."),
  "lazyfree-lazy-user-del": flag3("Let DEL behave like UNLINK."),
  "lazyfree-lazy-user-flush": flag3("Let FLUSHALL and FLUSHDB run in the background by default."),
  "slowlog-log-slower-than": count(
    "Minimum duration in microseconds of a command in the slow log; -1 for no log.",
    -1,
    int32
  ),
  "slowlog-max-len": count("Maximum number of entries in the slow log.", 0, 1e6),
  "commandlog-request-larger-than": {
    ...count("Minimum bytes of a command in the log of large requests; -1 for no log.", -1, int32),
    ...commandLog
  },
  "commandlog-large-request-max-len": {
    ...count("Maximum number of entries in the log of large requests.", 0, 1e6),
    ...commandLog
  },
  "commandlog-reply-larger-than": {
    ...count("Minimum bytes of a reply in the log of large replies; -1 for no log.", -1, int32),
    ...commandLog
  },
  "commandlog-large-reply-max-len": {
    ...count("Maximum number of entries in the log of large replies.", 0, 1e6),
    ...commandLog
  },
  "latency-monitor-threshold": count(
    "Minimum duration in milliseconds of a recorded latency event; 0 for none.",
    0,
    int32
  ),
  "latency-tracking": flag3("Record latency percentiles for each command."),
  "acllog-max-len": count("Maximum number of entries in the ACL log.", 0, 1e5),
  "busy-reply-threshold": count(
    "Milliseconds after which other clients get the error BUSY while a script runs.",
    100,
    6e5
  ),
  "cluster-node-timeout": {
    ...count(
      "Milliseconds without an answer after which a node of a Redis Cluster counts as down. A failover takes about two seconds more.",
      1e3,
      6e4
    ),
    mode: "Cluster"
  },
  "cluster-require-full-coverage": {
    ...flag3("Refuse all commands while any hash slot has no primary. When false, the other slots stay usable."),
    mode: "Cluster"
  },
  "cluster-preferred-endpoint-type": {
    ...choice("What clients of a Redis Cluster are redirected to: the address of the pod, or its DNS name.", [
      "ip",
      "hostname"
    ]),
    mode: "Cluster"
  },
  loglevel: choice("Log level of the server.", ["verbose", "notice", "warning"]),
  hz: count("Background cycles per second.", 1, 500),
  // Valkey has done so always since then, takes the line in a file, and refuses it in CONFIG SET.
  "dynamic-hz": { ...flag3("Increase hz with the number of clients."), in: { Valkey: { before: "8.1" } } },
  activerehashing: flag3("Rehash tables in the background."),
  "hash-max-listpack-entries": count("Maximum number of entries of a hash in compact form.", 0, 65536),
  "hash-max-listpack-value": count("Maximum bytes of a value of a hash in compact form.", 0, 65536),
  "zset-max-listpack-entries": count("Maximum number of entries of a sorted set in compact form.", 0, 65536),
  "zset-max-listpack-value": count("Maximum bytes of a value of a sorted set in compact form.", 0, 65536),
  "set-max-intset-entries": count("Maximum number of entries of a set of integers in compact form.", 0, 65536),
  "set-max-listpack-entries": {
    ...count("Maximum number of entries of a set in compact form.", 0, 65536),
    in: { Redis: { since: "7.2" } }
  },
  "set-max-listpack-value": {
    ...count("Maximum bytes of a value of a set in compact form.", 0, 65536),
    in: { Redis: { since: "7.2" } }
  },
  "list-max-listpack-size": count(
    "Maximum number of entries of a list node, or -1 to -5 for 4 kb to 64 kb.",
    -5,
    65535
  ),
  "list-compress-depth": count(
    "Number of list nodes at each end that are not compressed; 0 for no compression.",
    0,
    65535
  ),
  "stream-node-max-bytes": count("Maximum bytes of a stream node; 0 for no limit.", 0, 1048576),
  "stream-node-max-entries": count("Maximum number of entries of a stream node; 0 for no limit.", 0, 1048576),
  "hll-sparse-max-bytes": count("Maximum bytes of a HyperLogLog in sparse form.", 0, 16e3),
  databases: {
    ...count(
      "Number of databases. It can only increase, because Redis cannot load data of a database that no longer exists.",
      1,
      1024
    ),
    apply: "restart"
  },
  "io-threads": {
    ...count("Threads that read from and write to clients.", 1, 16),
    apply: "restart"
  }
};
var directiveProperties = Object.fromEntries(
  Object.entries(redisDirectives).map(([name, directive]) => [name, directive.schema])
);

// src/engines/redis/names.ts
var dataPort = 6379;
var sentinelPort = 26379;
var busPort = 16379;
var exporterPort = 9121;
var paths = {
  config: "/etc/clusterwright/config",
  auth: "/etc/clusterwright/auth",
  internal: "/etc/clusterwright/internal",
  data: "/data",
  /** Memory-backed: the composed configuration holds the password and must not outlive the pod. */
  run: "/run/redis",
  exporter: "/run/exporter"
};
var identityVolume = "internal";
var roleLabel = "clusterwright.dev/role";
function redisNames(cluster) {
  return {
    data: cluster,
    sentinel: `${cluster}-sentinel`,
    primary: `${cluster}-primary`,
    replicas: `${cluster}-replicas`,
    nodes: `${cluster}-nodes`,
    config: `${cluster}-config`,
    auth: `${cluster}-auth`,
    internal: `${cluster}-internal`
  };
}

// src/api/quantity.ts
var quantityPattern = "^[0-9]{1,12}(\\.[0-9]{1,3})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$";
var shape = /^([0-9]{1,32})(?:\.([0-9]{1,3}))?(n|u|m|[kMGTPE]|[KMGTPE]i|[eE][+]?[0-9]{1,2}|[eE]-[0-9])?$/;
var factors = {
  n: 1n,
  u: 1000n,
  m: 1000n ** 2n,
  "": 1000n ** 3n,
  k: 1000n ** 4n,
  M: 1000n ** 5n,
  G: 1000n ** 6n,
  T: 1000n ** 7n,
  P: 1000n ** 8n,
  E: 1000n ** 9n,
  Ki: 1000n ** 3n * 1024n,
  Mi: 1000n ** 3n * 1024n ** 2n,
  Gi: 1000n ** 3n * 1024n ** 3n,
  Ti: 1000n ** 3n * 1024n ** 4n,
  Pi: 1000n ** 3n * 1024n ** 5n,
  Ei: 1000n ** 3n * 1024n ** 6n
};
var perThousandth = 1000n ** 2n;
var binary = ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki", ""];
var decimal = ["E", "P", "T", "G", "M", "k", "", "m"];
var QuantityError = class extends Error {
};
function factorOf(suffix) {
  const [, exponent] = /^[eE]([+-]?[0-9]+)$/.exec(suffix) ?? [];
  return exponent === void 0 ? factors[suffix] : 10n ** BigInt(9 + Number(exponent));
}
function parts(text2) {
  const match = shape.exec(text2);
  const [, whole, fraction = "", suffix = ""] = match ?? [];
  const factor = factorOf(suffix);
  if (whole === void 0 || factor === void 0) throw new QuantityError(`${JSON.stringify(text2)} is no quantity`);
  const scaled = BigInt(whole + fraction.padEnd(3, "0")) * factor;
  const divisor = 1000n * perThousandth;
  return { thousandths: (scaled + divisor - 1n) / divisor, suffix };
}
function thousandths(quantity2) {
  return parts(String(quantity2)).thousandths;
}
function unitsOf(quantity2) {
  return Number((thousandths(quantity2) + 999n) / 1000n);
}
function canonicalQuantity(quantity2) {
  const { thousandths: amount, suffix } = parts(String(quantity2));
  if (amount === 0n) return "0";
  const isWhole = amount % 1000n === 0n;
  const family = suffix.endsWith("i") && isWhole ? binary : decimal;
  const inThousandths = (unit2) => (factors[unit2] ?? perThousandth) / perThousandth;
  const unit = family.find((each) => amount % inThousandths(each) === 0n) ?? "m";
  return `${amount / inThousandths(unit)}${unit}`;
}

// src/engines/redis/resources/memory-shares.ts
var dataShareOfLimit = 0.6;
var mebibyte = 1024 ** 2;
function memoryShares(limit) {
  const share = (parts3) => Math.max(mebibyte, Math.floor(limit / parts3));
  return {
    maxmemory: String(Math.floor(limit * dataShareOfLimit)),
    "maxmemory-clients": String(share(8)),
    "repl-backlog-size": String(Math.min(256 * mebibyte, share(32))),
    "client-output-buffer-limit": `replica ${share(8)} ${share(16)} 60`
  };
}

// src/engines/redis/resources/server-defaults.ts
var common = {
  maxmemory: "0",
  "maxmemory-clients": "0",
  "maxmemory-policy": "noeviction",
  "maxmemory-samples": "5",
  "maxmemory-eviction-tenacity": "10",
  "active-expire-effort": "1",
  "lfu-log-factor": "10",
  "lfu-decay-time": "1",
  maxclients: "10000",
  timeout: "0",
  "tcp-keepalive": "300",
  "client-query-buffer-limit": "1073741824",
  "proto-max-bulk-len": "536870912",
  "tracking-table-max-keys": "1000000",
  "notify-keyspace-events": "",
  appendfsync: "everysec",
  "no-appendfsync-on-rewrite": "no",
  "auto-aof-rewrite-percentage": "100",
  "auto-aof-rewrite-min-size": "67108864",
  rdbcompression: "yes",
  "repl-backlog-size": String(1024 * 1024),
  "repl-backlog-ttl": "3600",
  "repl-timeout": "60",
  "min-replicas-to-write": "0",
  "min-replicas-max-lag": "10",
  "replica-lazy-flush": "no",
  "lazyfree-lazy-eviction": "no",
  "lazyfree-lazy-expire": "no",
  "lazyfree-lazy-server-del": "no",
  "lazyfree-lazy-user-del": "no",
  "lazyfree-lazy-user-flush": "no",
  "slowlog-log-slower-than": "10000",
  "slowlog-max-len": "128",
  "commandlog-request-larger-than": "1048576",
  "commandlog-large-request-max-len": "128",
  "commandlog-reply-larger-than": "1048576",
  "commandlog-large-reply-max-len": "128",
  "latency-monitor-threshold": "0",
  "latency-tracking": "yes",
  "acllog-max-len": "128",
  "busy-reply-threshold": "5000",
  "cluster-node-timeout": "15000",
  "cluster-require-full-coverage": "yes",
  "cluster-preferred-endpoint-type": "ip",
  loglevel: "notice",
  hz: "10",
  "dynamic-hz": "yes",
  activerehashing: "yes",
  "hash-max-listpack-entries": "512",
  "hash-max-listpack-value": "64",
  "zset-max-listpack-entries": "128",
  "zset-max-listpack-value": "64",
  "set-max-intset-entries": "512",
  "set-max-listpack-entries": "128",
  "set-max-listpack-value": "64",
  "list-max-listpack-size": "-2",
  "list-compress-depth": "0",
  "stream-node-max-bytes": "4096",
  "stream-node-max-entries": "100",
  "hll-sparse-max-bytes": "3000",
  databases: "16",
  "io-threads": "1"
};
var ofValkey = [
  [
    "8.0",
    {
      "repl-backlog-size": String(10 * 1024 * 1024),
      "replica-lazy-flush": "yes",
      "lazyfree-lazy-eviction": "yes",
      "lazyfree-lazy-expire": "yes",
      "lazyfree-lazy-server-del": "yes",
      "lazyfree-lazy-user-del": "yes",
      "lazyfree-lazy-user-flush": "yes"
    }
  ]
];
function serverDefaults({ engine, version: version2 }) {
  switch (engine) {
    case "Redis":
      return common;
    case "Valkey": {
      const changes = ofValkey.filter(([since]) => atLeast(version2, since)).map(([, changed]) => changed);
      return Object.assign({}, common, ...changes);
    }
  }
}

// src/engines/redis/kind/slots.ts
var slotCount = 16384;
var allSlots = [{ first: 0, last: slotCount - 1 }];

// src/engines/redis/kind/shards.ts
var defaultShards = 3;
var defaultReplicas = 1;
var shardsSchema = {
  type: "integer",
  description: `Number of shards in mode Cluster. ${defaultShards} when absent.`,
  minimum: 3,
  maximum: 100
};
var replicasPerShardSchema = {
  type: "integer",
  description: `Number of replicas of each shard in mode Cluster, besides its primary. ${defaultReplicas} when absent. With 0, a shard is down while its pod is.`,
  minimum: 0,
  maximum: 4
};
var placementStatusSchema = {
  type: "string",
  description: "Optimal: the primaries are spread evenly over nodes, and no replica is on the node of its primary. BestEffort: the scheduler has found no such nodes, or failovers have moved primaries since.",
  enum: ["Optimal", "BestEffort"]
};
function shardsOf({ shards = defaultShards }) {
  return shards;
}
function replicasPerShardOf(spec) {
  return spec.replicasPerShard ?? defaultReplicas;
}
var inCluster = (rule) => `self.mode != 'Cluster' || ${rule}`;
var shardRules = [
  {
    rule: "self.mode == 'Cluster' || (!has(self.shards) && !has(self.replicasPerShard))",
    message: "shards and replicasPerShard need mode Cluster",
    fieldPath: ".mode"
  },
  {
    rule: inCluster("self.replicas == 3"),
    message: "mode Cluster takes shards and replicasPerShard: leave replicas out",
    fieldPath: ".replicas"
  },
  {
    rule: inCluster(
      `!has(self.config.min__dash__replicas__dash__to__dash__write) || self.config.min__dash__replicas__dash__to__dash__write <= (has(self.replicasPerShard) ? self.replicasPerShard : ${defaultReplicas})`
    ),
    message: "config.min-replicas-to-write must be at most replicasPerShard"
  },
  {
    rule: inCluster("!has(self.config.databases) || self.config.databases == 1"),
    message: "mode Cluster has one database: leave config.databases out"
  },
  {
    rule: inCluster("!self.storage.ephemeral"),
    message: "mode Cluster needs volumes: the ID of each node and the hash slots that it serves are on its volume",
    fieldPath: ".storage"
  },
  {
    rule: inCluster("!has(self.access)"),
    message: "mode Cluster has no access from outside yet: clients must reach each node",
    fieldPath: ".access"
  },
  {
    rule: inCluster("!has(self.backup)"),
    message: "mode Cluster has no backups yet",
    fieldPath: ".backup"
  },
  {
    rule: inCluster("!has(self.bootstrap)"),
    message: "mode Cluster cannot be restored from a backup yet",
    fieldPath: ".bootstrap"
  },
  {
    rule: inCluster("self.deletionPolicy != 'Snapshot'"),
    message: "mode Cluster has no backups yet, so deletionPolicy cannot be Snapshot",
    fieldPath: ".deletionPolicy"
  },
  {
    rule: inCluster("self.engine == oldSelf.engine"),
    message: "engine cannot change in mode Cluster",
    fieldPath: ".engine"
  }
];

// src/engines/redis/resources/shards/settings.ts
var clusterSettings = {
  "cluster-allow-replica-migration": "no",
  "cluster-allow-reads-when-down": "no",
  "cluster-replica-validity-factor": "10"
};
function ofShards(spec) {
  return {
    databases: "1",
    // A primary of a minority refuses writes after this time, and a replica is elected soon after it.
    "cluster-node-timeout": "5000",
    // As with Sentinel: with one replica, writes would stop as soon as it is away.
    ...replicasPerShardOf(spec) >= 2 ? { "min-replicas-to-write": "1" } : {}
  };
}

// src/engines/redis/resources/settings.ts
function derived(cluster, limit) {
  const { mode, replicas } = cluster.spec;
  if (mode === "Cluster") return { ...sharesOf(limit), ...ofShards(cluster.spec) };
  return {
    ...sharesOf(limit),
    // Two nodes would stop taking writes as soon as one is away; from three on, one that is cut off must stop (R2).
    ...mode === "Sentinel" && replicas >= 3 ? { "min-replicas-to-write": "1" } : {}
  };
}
function sharesOf(limit) {
  const { "client-output-buffer-limit": _, ...shares } = memoryShares(limit);
  return shares;
}
var floors = { "repl-backlog-size": String(16 * 1024) };
function atLeastFloor(name, value) {
  const floor = floors[name];
  return floor !== void 0 && Number(value) < Number(floor) ? floor : value;
}
var units = { kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
function canonical(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  const size2 = typeof value === "string" ? /^(\d+)(kb|mb|gb)$/.exec(value) : null;
  if (size2 !== null) return String(Number(size2[1]) * (units[size2[2] ?? ""] ?? 1));
  return String(value);
}
var directives = Object.entries(redisDirectives);
function settings(cluster, apply2, limit = specLimit(cluster)) {
  const chosen = Object.fromEntries(
    Object.entries(cluster.spec.config ?? {}).map(([name, value]) => [name, atLeastFloor(name, canonical(value))])
  );
  const all2 = { ...serverDefaults(cluster.spec), ...derived(cluster, limit), ...chosen };
  const known = directives.filter(([, directive]) => directive.apply === apply2 && isKnown(directive, cluster.spec));
  return Object.fromEntries(known.map(([name]) => [name, all2[name] ?? ""]));
}
function specLimit({ spec }) {
  return unitsOf(spec.resources.limits.memory);
}
function dynamicSettings(cluster, limit) {
  return settings(cluster, "dynamic", limit);
}
function replicaBuffer(cluster, limit = specLimit(cluster)) {
  return memoryShares(limit)["client-output-buffer-limit"];
}
var strictReplication = { "propagation-error-behavior": "panic-on-replicas" };
function restartSettings(cluster) {
  return settings(cluster, "restart");
}
var bufferLimits = "client-output-buffer-limit";

// src/engines/redis/resources/config.ts
var fixed = {
  port: String(dataPort),
  bind: "* -::*",
  "protected-mode": "no",
  dir: paths.data,
  appendonly: "yes",
  save: "",
  "aof-use-rdb-preamble": "yes",
  "repl-diskless-sync": "yes",
  "repl-diskless-sync-delay": "0",
  "shutdown-timeout": "10",
  ...strictReplication
};
function quote(value) {
  if (/[\u0000-\u001f\u007f]/.test(value)) throw new Error("a redis.conf value must not hold control characters");
  return /^[A-Za-z0-9._/-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}
function line([name, value]) {
  return name === "bind" || name === bufferLimits ? `${name} ${value}` : `${name} ${quote(value)}`;
}
function withoutOwnDefaults(cluster) {
  const { engine, config: config2 } = cluster.spec;
  const directives2 = redisDirectives;
  const isForBoth = (name) => directives2[name]?.in?.Redis === void 0 || name in config2;
  const settings2 = dynamicSettings(cluster);
  switch (engine) {
    case "Redis":
      return settings2;
    case "Valkey":
      return Object.fromEntries(Object.entries(settings2).filter(([name]) => isForBoth(name)));
  }
}
function redisConf(cluster) {
  const buffer = { [bufferLimits]: replicaBuffer(cluster) };
  const ofMode = cluster.spec.mode === "Cluster" ? clusterSettings : {};
  const all2 = { ...fixed, ...ofMode, ...restartSettings(cluster), ...withoutOwnDefaults(cluster), ...buffer };
  return `${Object.entries(all2).map(line).join("\n")}
`;
}
function sentinelSettings(cluster) {
  const { quorum, downAfter, failoverTimeout } = cluster.spec.sentinel;
  return {
    quorum: String(quorum),
    "down-after-milliseconds": String(durationMs(downAfter)),
    "failover-timeout": String(durationMs(failoverTimeout)),
    // All replicas at once: with the backlog they resume rather than copy, and writes need one of them (R2).
    "parallel-syncs": String(Math.max(1, cluster.spec.replicas - 1))
  };
}
function sentinelConf(cluster) {
  const { quorum: _, ...rest } = sentinelSettings(cluster);
  return Object.entries(rest).map(([name, value]) => `sentinel ${name} ${cluster.metadata.name} ${value}
`).join("");
}
function restartHash(cluster) {
  return createHash("sha256").update(JSON.stringify(restartSettings(cluster))).digest("hex").slice(0, 16);
}

// src/engines/redis/resources/client-rule.ts
var reserved = "__sentinel__";
var unreserved = [...reserved].flatMap((letter, i2) => {
  const before = reserved.slice(0, i2);
  return [...i2 === 0 ? [] : [`&${before}`], `&${before}[^${letter}]*`];
});
var clientRule = [
  ...["-replicaof", "-slaveof", "-failover", "-publish"],
  ...["clearselectors", `(+publish ${unreserved.join(" ")})`]
];
var sentinelClientRule = "-publish";
var shardClientRule = [
  ...["-replicaof", "-slaveof", "-failover", "-cluster"],
  ...[
    "info",
    "nodes",
    "slots",
    "shards",
    "myid",
    "keyslot",
    "countkeysinslot",
    "getkeysinslot",
    "links",
    "replicas"
  ].map((subcommand) => `+cluster|${subcommand}`)
];

// src/engines/redis/resources/shell/texts.ts
var texts = {
  "admit-shard.sh": `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/volume.sh"
. "$CONFIG_DIR/shard.sh"
look
kept=no
if settle_mark; then kept=yes; fi
settle_eligibility || true
find_peers || true
find_primary || true
case "$(field loading):$(field role):$(field master_link_status)" in
  # A new shard gets its slots once its nodes are ready.
  0:master:*) owns_slots || case $(own_cli cluster info) in *cluster_state:ok*) ;; *) exit 1 ;; esac ;;
  0:slave:up) [ "$kept" = yes ] ;;
  *) exit 1 ;;
esac
`,
  "admit.sh": `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/volume.sh"
look
confine_clients || true
# A copy is on the disk once the append-only file holds it: killed before, the node would not have what it acknowledged.
kept=no
if settle_mark; then kept=yes; fi
settle_term
# Where the mark was given just now, this has been said.
electable() { [ "$kept:$stale" = yes:yes ] || local_cli config set replica-priority 100 > /dev/null; }
case "$(field role):$(field master_link_status)" in
  master:*) electable ;;
  slave:up)
    [ "$kept" = no ] || electable
    set -- $(named_primary)
    if [ "\${1:-}" = "$POD_IP" ]; then exit 1; fi
    follow=127.0.0.1
    port=1
    if [ "\${3:-}" = safe ]; then
      follow=$1
      port=6379
    fi
    if [ "$follow" != "$(field master_host)" ]; then
      # It may have been promoted since it was asked.
      case $(local_cli role) in slave*) replicate_from "$follow" "$port" > /dev/null ;; esac
      exit 1
    fi
    [ "$kept" = yes ] || exit 1
    shift 3
    for s; do is_known_to "$s" || exit 1; done
    ;;
  slave:*)
    if [ "$(field master_sync_in_progress)" = 0 ]; then
      set -- $(named_primary)
      if [ "\${3:-}" = safe ] && [ "$1" != "$POD_IP" ] && ! was_here "$1"; then
        [ "$stale" = yes ] || fall_behind
        [ "$1" = "$(field master_host)" ] || replicate_from "$1" 6379 > /dev/null
      fi
    fi
    exit 1
    ;;
  *) exit 1 ;;
esac
`,
  "alive.sh": `#!/bin/sh
set -eu
answer=$(timeout 2 "\${SERVER:-redis}-cli" -p 6379 ping 2>&1) || true
case $answer in '' | *'Could not connect'*) exit 1 ;; esac
`,
  "exporter.sh": `#!/bin/sh
# Runs redis_exporter beside a server, and again when it ends. This shell goes on meanwhile: a container that ends makes its pod unready,
# and the Services would leave out a server that is well.
set -u
umask 077
program=$(command -v redis_exporter || command -v prometheus-redis-exporter || echo /redis_exporter)
passwords=/run/exporter/passwords.json
# As redis_exporter writes the user into an address.
user=$(printf '%s' "$IDENTITY" | sed 's|/|%2F|g')
exporter=
pause=
# Without a line there is no password, and one that is not of these characters is not one that the operator has made.
current() {
  read -r password < "$IDENTITY_FILE" || password=\${password:-}
  case $password in *[!A-Za-z0-9+/=_.-]*) password= ;; esac
}
# Its runtime collects garbage before it reaches the limit of the container, which is not in the environment: a limit may change in place.
spare_memory() {
  limit=
  { read -r limit < /sys/fs/cgroup/memory.max; } 2> /dev/null
  case $limit in
    '' | *[!0-9]*) unset GOMEMLIMIT ;;
    *) export GOMEMLIMIT="$((limit * 8 / 10))" ;;
  esac
}
# Of files and connections. Each connection may hold a megabyte of headers, and an exporter beyond its memory limit makes the pod unready:
# strangers must not be able to do that. About twelve can be served at a time, others wait.
# shellcheck disable=SC3045 # Not in POSIX; dash, busybox and bash have it.
ulimit -n 20
trap 'kill $exporter $pause 2> /dev/null; exit 0' TERM INT
while :; do
  password=
  current
  used=$password
  # For this address and user alone, so nothing else is ever told the password.
  printf '{"redis://%s@127.0.0.1:%s":"%s"}\\n' "$user" "$REDIS_PORT" "$used" > "$passwords"
  spare_memory
  # Without the last, whoever reaches the port could have it ask another address, or read names of keys.
  "$program" --web.listen-address=":$METRICS_PORT" --redis.addr="redis://127.0.0.1:$REDIS_PORT" \\
    --redis.user="$IDENTITY" --redis.password-file="$passwords" --connection-timeout=5s --disable-scrape-endpoint &
  exporter=$!
  # The kubelet changes the mounted file when the Secret changes.
  while :; do
    sleep 5 &
    pause=$!
    wait "$pause"
    kill -0 "$exporter" 2> /dev/null || break
    current
    if [ "$password" != "$used" ]; then
      kill "$exporter"
      break
    fi
  done
  wait "$exporter"
  echo "redis_exporter has ended with code $? and starts again" >&2
done
`,
  "hand-over-shard.sh": `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
. "$CONFIG_DIR/shard.sh"
# SIGTERM comes once, and a server whose append-only file does not hold the copied dataset yet refuses it for good.
until_written() {
  local_cli config set save '' > /dev/null || true
  tries=0
  while [ "$tries" -lt 20 ]; do
    case $(local_cli info persistence) in *aof_rewrite_in_progress:1* | *aof_rewrite_scheduled:1*) ;; *) break ;; esac
    tries=$((tries + 1))
    sleep 1
  done
}
trap until_written EXIT
give_up=$(($(date +%s) + 10))
role() { own_cli role | head -n 1 | tr -d '\\r'; }
[ "$(role)" = master ] && owns_slots || exit 0
# Those that have the most come first. The replica has this server pause its writes until it has everything.
for p in $(own_cli info replication | tr -d '\\r' | awk -F'[=,]' '/^slave[0-9]+:/ && /state=online/ { print $8, $2 }' | sort -rn | cut -d ' ' -f 2); do
  [ "$(date +%s)" -lt "$give_up" ] || break
  case $(peer_cli "$p" info persistence) in *aof_rewrite_in_progress:0*) ;; *) continue ;; esac
  case $(peer_cli "$p" cluster failover) in OK*) ;; *) continue ;; esac
  tries=0
  while [ "$tries" -lt 60 ] && [ "$(date +%s)" -lt "$give_up" ]; do
    [ "$(role)" != slave ] || exit 0
    tries=$((tries + 1))
    sleep 0.1
  done
done
exit 0
`,
  "hand-over.sh": `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
# SIGTERM comes once, and a server whose append-only file does not hold the copied dataset yet refuses it for good.
until_written() {
  # Where somebody has set times for snapshots, a server that is stopped saves one, which looks like a copy that was not written down.
  local_cli config set save '' > /dev/null || true
  tries=0
  while [ "$tries" -lt 20 ]; do
    case $(local_cli info persistence) in *aof_rewrite_in_progress:1* | *aof_rewrite_scheduled:1*) ;; *) break ;; esac
    tries=$((tries + 1))
    sleep 1
  done
}
trap until_written EXIT
[ -n "$(sentinels)" ] || exit 0
info=$(local_cli info replication | tr -d '\\r')
case $info in *role:master*) ;; *) exit 0 ;; esac
peers=$(printf '%s\\n' "$info" | awk -F'[=,]' '/^slave[0-9]+:/ && /state=online/ { print $2 }')
[ -n "$peers" ] || exit 0
set -- $(named_primary)
[ "\${1:-}" = "$POD_IP" ] || exit 0
sentinel=$2

paused_at=$(uptime_ms)
local_cli client pause 10000 write > /dev/null
give_up=$(($(date +%s) + 8))
in_time() { [ "$(date +%s)" -lt "$give_up" ]; }
# Seconds count whole: between two and three of them.
caught_up_by=$(($(date +%s) + 3))
resume() { local_cli client unpause > /dev/null; exit 0; }
target=$(local_cli info replication | tr -d '\\r' | awk -F: '/^master_repl_offset:/ { print $2 }')
while :; do
  ahead=
  behind=
  for p in $peers; do
    got=$(node_cli "$p" info replication | tr -d '\\r' | awk -F: '/^slave_repl_offset:/ { print $2 }')
    if [ -n "$got" ] && [ "$got" -ge "$target" ]; then ahead="$ahead $p"; else behind="$behind $p"; fi
  done
  [ -n "$behind" ] || break
  [ "$(date +%s)" -lt "$caught_up_by" ] || break
  sleep 0.1
done
# Sentinel goes by what it last heard: it might elect one that lacks something, or that did not answer just now.
[ -n "$ahead" ] && [ -z "$behind" ] || resume
inform "$sentinel" 10 || resume
# A paused server does not answer its sentinels: another may begin a failover of its own, and two nodes would take writes.
[ "$(($(uptime_ms) - paused_at))" -lt "$(cat "$CONFIG_DIR/ask-within-ms")" ] || resume
case $(sentinel_cli "$sentinel" sentinel failover "$CLUSTER_NAME" || true) in OK* | INPROG* | '') ;; *) resume ;; esac

promoted=
while [ -z "$promoted" ]; do
  answers=0
  for p in $ahead; do
    role=$(node_cli "$p" role | head -n 1 | tr -d '\\r')
    [ -z "$role" ] || answers=$((answers + 1))
    [ "$role" != master ] || promoted=$p
  done
  # Sentinel was asked: a replica may take writes by now. The pause lasts until the server stops.
  [ "$answers" -gt 0 ] && in_time || exit 0
  [ -n "$promoted" ] || sleep 0.05
done
# Where it does not follow, the pause lasts: its writes would be lost.
case $(replicate_from "$promoted" 6379) in OK*) ;; *) exit 0 ;; esac
local_cli client unpause > /dev/null
# Stay until the new primary has another replica: alone, it would refuse writes.
tries=0
while [ "$tries" -lt 30 ] && in_time; do
  others=$(node_cli "$promoted" info replication | tr -d '\\r' |
    awk -F'[=,]' -v me="$POD_IP" '/^slave[0-9]+:/ && /state=online/ && $2 != me { n++ } END { print n + 0 }')
  [ "$others" = 0 ] || exit 0
  tries=$((tries + 1))
  sleep 0.1
done
exit 0
`,
  "library.sh": `# Of the engine: a pod of Redis is not told. While a cluster changes over, pods of both have these scripts.
cli="\${SERVER:-redis}-cli"
# The password with which this pod logs in: that of its start, until the server knows another. The kubelet changes the mounted
# file under a server that runs, and the server does not take notice. A pod that was made before there was such a file has it
# in its configuration; what the server itself has written there may hold escapes, which are left alone.
if [ -s /run/redis/password ]; then
  password=$(head -n 1 /run/redis/password)
else
  password=$(head -n 1 "$AUTH_FILE")
  started_with=$(sed -n 's/^requirepass "\\(.*\\)"$/\\1/p' /run/redis/redis.conf /run/redis/sentinel.conf 2> /dev/null | head -n 1)
  case $started_with in
    '' | *\\\\[!\\"\\\\]*) ;;
    *) password=$(printf '%s' "$started_with" | sed 's/\\\\\\(.\\)/\\1/g') ;;
  esac
fi
export REDISCLI_AUTH="$password"
mounted_password() { head -n 1 "$AUTH_FILE" 2> /dev/null || true; }
# Once the server knows what the Secret says, the scripts log in with that: the password before will not be accepted for long. $1: the port.
settle_password() {
  mounted=$(mounted_password)
  [ -n "$mounted" ] && [ "$mounted" != "$password" ] || return 0
  case $(REDISCLI_AUTH=$mounted timeout 2 "$cli" -p "$1" ping 2>&1) in
    PONG* | LOADING* | MASTERDOWN* | MISCONF*) ;;
    *) return 0 ;;
  esac
  password=$mounted
  export REDISCLI_AUTH="$password"
  keep_password
}
# What the cluster calls itself among its own. A pod that was made before there was such a name has no password for it.
identity="clusterwright/$POD_NAMESPACE/$CLUSTER_NAME"
identity_password=
[ -z "\${IDENTITY_FILE:-}" ] || identity_password=$(head -n 1 "$IDENTITY_FILE")
# As servers keep it.
hash_of() { printf '%s' "$1" | sha256sum | cut -c 1-64; }
identity_rule() { printf 'user %s on #%s ~* &* +@all\\n' "$identity" "$(hash_of "$identity_password")"; }
# Hashes of the passwords with which clients are let in, where there may be others than that of the pod.
accepted=/run/redis/accepted
# In what a server tells of a user; each once.
hashes() { tr -d '\\r' | awk 'length($0) == 64 && !/[^0-9a-f]/ && !seen[$0]++'; }
# Before the server starts: a change of the password may be under way. $1: a sentinel.
learn_accepted() {
  [ -n "$identity_password" ] || return 0
  told=$(REDISCLI_AUTH=$identity_password; sentinel_cli "$1" --user "$identity" acl getuser default | hashes)
  [ -z "$told" ] || printf '%s\\n' "$told" > "$accepted"
}
# For a node that has no sentinels to learn it from when it starts again.
keep_accepted() {
  told=$(local_cli acl getuser default | hashes)
  [ -n "$told" ] && [ "$told" != "$(cat "$accepted" 2> /dev/null)" ] || return 0
  printf '%s\\n' "$told" > "$accepted.new" && mv -f "$accepted.new" "$accepted"
}
# The rule of the default user, where clients may log in with more than the password of the pod, or no more with that: what was accepted
# last. Only a new pod adds the password of the Secret here, since it has no other one. The operator tells the servers that run already, after
# the sentinels, so that the scripts do not use the new password before the sentinels accept it.
default_rule() {
  {
    [ ! -s "$accepted" ] || cat "$accepted"
    if [ "$is_new" = yes ] || [ ! -s "$accepted" ]; then hash_of "$password"; fi
  } | hashes | awk -v own="$(hash_of "$password")" '
    { rule = rule " #" $0; last = $0 }
    END { if (NR != 1 || last != own) printf "user default on%s ~* &* +@all\\n", rule }'
}
# A container that restarts in this pod keeps the password that the pod started with. A pod does not start with an empty
# password: the server would accept every client.
is_new=yes
[ ! -s /run/redis/password ] || is_new=no
keep_password() {
  if [ -z "$password" ] && [ ! -s /run/redis/password ]; then
    echo "the first line of $AUTH_FILE is empty" >&2
    exit 1
  fi
  (umask 077 && printf '%s\\n' "$password" > /run/redis/password)
}
# Runs redis-cli. $1: seconds. While the password of clients changes, another process may refuse the password of this pod: then the pod logs in
# with the identity of the cluster. A refused login runs no command, so no command runs twice.
ask() (
  seconds=$1
  shift
  code=0
  answer=$(timeout "$seconds" "$cli" "$@" 2> /dev/null) || code=$?
  case $answer in
    NOAUTH* | WRONGPASS*)
      if [ -n "$identity_password" ]; then
        REDISCLI_AUTH=$identity_password
        exec timeout "$seconds" "$cli" --user "$identity" "$@" 2> /dev/null
      fi
      ;;
  esac
  [ -z "$answer" ] || printf '%s\\n' "$answer"
  exit "$code"
)
local_cli() { ask 2 -p 6379 "$@"; }
node_cli() { host=$1; shift; ask 1 -h "$host" -p 6379 "$@"; }
sentinel_cli() { host=$1; shift; ask 1 -h "$host" -p 26379 "$@"; }
sentinels() { cat "$CONFIG_DIR/sentinels"; }
# The password of the identity, where this server copies by it: then every node knows who the cluster is. The pod's file may say
# another than the server has been told, and pods of before have none.
own_password() {
  [ "$(local_cli config get masteruser | tail -n 1 | tr -d '\\r')" != "$identity" ] ||
    local_cli config get masterauth | tail -n 1 | tr -d '\\r'
}
# REPLICAOF, as the cluster: the default user may not, once it is confined. Prints the answer.
replicate_from() {
  own=$(own_password)
  if [ -z "$own" ]; then
    local_cli replicaof "$@"
  else
    (REDISCLI_AUTH=$own; local_cli --user "$identity" replicaof "$@")
  fi
}
# Takes from the default user what a sentinel would say, since one from elsewhere may have its password and remember this address.
# Not while a sentinel of this cluster may still speak as that user; the scripts that say it otherwise are those of this file.
confine_clients() {
  [ ! -e /run/redis/confined ] || return 0
  own=$(own_password)
  [ -n "$own" ] || return 0
  for s in $(sentinels); do
    case $(REDISCLI_AUTH=$own; sentinel_cli "$s" --user "$identity" ping) in PONG*) ;; *) return 0 ;; esac
  done
  case $(local_cli acl setuser default CLIENT_RULE) in OK*) : > /run/redis/confined ;; esac
}
# Of a sentinel. It has logged in to the others as the cluster since it started.
confine_sentinel_clients() {
  [ -n "$identity_password" ] && [ ! -e /run/redis/confined ] || return 0
  case $(timeout 2 "$cli" -p 26379 acl setuser default SENTINEL_CLIENT_RULE 2> /dev/null) in OK*) : > /run/redis/confined ;; esac
}
# Asks all sentinels at once; prints "ADDRESS SENTINEL VERDICT" of the view with the highest configuration epoch, then
# all sentinels that watch anybody; or nothing. The verdict says whether a node may follow now. It acknowledges writes
# from then on, and as long as the sentinels do not know it they may elect one that lacks them: so it is safe only where
# those who may want another primary are no quorum. A sentinel pings every second: a missed answer tells of a cut before
# the flag of down-after does.
# Everybody is waited for: the server is the container's first process, and does not reap what others leave behind.
named_primary() {
  set -- $(sentinels)
  [ $# -gt 0 ] || return 0
  { for s; do
    { sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\\r' |
      awk -v s="$s" -v missed="$(cat "$CONFIG_DIR/missed-ms")" 'NR % 2 { name = $0; next } { v[name] = $0 } END {
        sees = "up"
        if (v["flags"] ~ /_down/ || v["runid"] == "" || v["last-ok-ping-reply"] !~ /^[0-9]+$/) sees = "down"
        if (v["last-ok-ping-reply"] + 0 > missed + 0) sees = "down"
        if (v["flags"] ~ /failover/) sees = "replaced"
        if (v["ip"] != "") print v["config-epoch"], v["ip"], s, sees
      }'; } &
  done; wait; } | sort -rn | awk -v spare="$(($# - $(cat "$CONFIG_DIR/quorum")))" '
    NR == 1 { address = $2; sentinel = $3 }
    $2 == address { n[$4]++ }
    { watching = watching " " $3 }
    END { if (NR) print address, sentinel, (!n["replaced"] && n["up"] > spare ? "safe" : "unsafe") watching }'
}
# Whether a sentinel has this node among the replicas and reaches it: it could tell it to follow another.
is_known_to() {
  sentinel_cli "$1" sentinel replicas "$CLUSTER_NAME" | tr -d '\\r' | awk -v me="$POD_IP" '
    NR % 2 { name = $0; next }
    name == "ip" { ip = $0 }
    name == "flags" && ip == me { known = !/down|disconnected/ }
    END { exit !known }'
}
# Has a sentinel ask all nodes that it does not take for down what they hold, and succeeds when they have told it: it elects by
# what it has heard last, which may be from before an acknowledgement. Fails where it does not answer, too, or cannot act now:
# its clock has jumped. $2: how many looks, ten a second.
inform() {
  case $(sentinel_cli "$1" info sentinel) in *sentinel_tilt:1*) return 1 ;; esac
  from=$(uptime_ms)
  left=$2
  sentinel_cli "$1" sentinel debug info-period 100 > /dev/null || return 1
  while :; do
    within=$(($(uptime_ms) - from - 10))
    told=$(sentinel_cli "$1" sentinel replicas "$CLUSTER_NAME") || left=0
    if printf '%s\\n' "$told" | tr -d '\\r' | awk -v within="$within" '
      NR % 2 { name = $0; next }
      name == "flags" { up = !/down|disconnected/ }
      name == "info-refresh" && up && $0 + 0 >= within + 0 { late = 1 }
      END { exit late }'; then break; fi
    left=$((left - 1))
    [ "$left" -gt 0 ] || break
    sleep 0.1
  done
  # An election takes nobody whose answer is older than three of these periods.
  sentinel_cli "$1" sentinel debug info-period "$(cat "$CONFIG_DIR/info-period-ms")" > /dev/null || true
  [ "$left" -gt 0 ]
}
# Hundredths of a second, which nobody sets.
uptime_ms() { echo "$(cut -d ' ' -f 1 /proc/uptime | tr -d .)0"; }
# The most replicas that any sentinel knows: one that was just reset knows none.
known_replicas() {
  for s in $(sentinels); do
    sentinel_cli "$s" sentinel master "$CLUSTER_NAME" | tr -d '\\r' |
      awk 'NR % 2 { name = $0; next } name == "num-slaves"'
  done | sort -rn | head -n 1
}
`,
  "ping.sh": `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
[ -n "$(sentinels)" ] || keep_accepted || true
# Whatever the volume says, it is no matter of readiness.
(. "$CONFIG_DIR/volume.sh" && look && { settle_mark || true; settle_term; }) || true
confine_clients || true
answer=$(timeout 2 "$cli" -p 6379 ping 2>&1) || true
case $answer in
  '' | *'Could not connect'*) exit 1 ;;
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ ! -e /run/redis/loading ] ;;
  LOADING* | MASTERDOWN*)
    : > /run/redis/loading
    exit 1
    ;;
  *) rm -f /run/redis/loading ;;
esac
`,
  "ready-shard.sh": `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 6379 || true
keep_accepted || true
# Whatever the volume says, it is no matter of readiness.
(. "$CONFIG_DIR/volume.sh" && . "$CONFIG_DIR/shard.sh" && look && { settle_mark || true; settle_eligibility; find_peers; find_primary; }) || true
answer=$(timeout 2 "$cli" -p 6379 ping 2>&1) || true
case $answer in
  '' | *'Could not connect'*) exit 1 ;;
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ ! -e /run/redis/loading ] ;;
  LOADING* | MASTERDOWN*)
    : > /run/redis/loading
    exit 1
    ;;
  *) rm -f /run/redis/loading ;;
esac
`,
  "sentinel-alive.sh": `#!/bin/sh
set -eu
answer=$(timeout 2 "\${SERVER:-redis}-cli" -p 26379 ping 2>&1) || true
case $answer in '' | *'Could not connect'*) exit 1 ;; esac
`,
  "shard.sh": `# Of a node of a Redis Cluster. Whoever asks another node does so as the cluster, which no node of another cluster lets in.
nodes_file=/data/nodes.conf
manifest=/data/appendonlydir/appendonly.aof.manifest
own_cli() ( REDISCLI_AUTH=$identity_password; ask 2 -p 6379 --user "$identity" "$@" )
peer_cli() ( host=$1; shift; REDISCLI_AUTH=$identity_password; ask 1 -h "$host" -p 6379 --user "$identity" "$@" )
peers() { cat "$CONFIG_DIR/peers"; }
# The line of this node in what it says of the cluster.
own_line() { own_cli cluster nodes | tr -d '\\r' | grep -E '^[0-9a-f]{40} [^ ]+ ([a-z?,]*,)?myself[, ]'; }
owns_slots() { own_line | awk '{ exit NF < 9 }'; }
# A replica that has not written down what it has copied would lose it as primary: it is not elected. \`volume.sh\` decides that.
settle_eligibility() {
  case $(own_cli config get replica-priority | tail -n 1 | tr -d '\\r') in
    '') return 0 ;;
    0) wanted=yes ;;
    *) wanted=no ;;
  esac
  [ "$(own_cli config get cluster-replica-no-failover | tail -n 1 | tr -d '\\r')" = "$wanted" ] ||
    own_cli config set cluster-replica-no-failover "$wanted" > /dev/null
}
# A node that hears of another address of its primary from a third one goes on copying from the address of before. Told its primary again, it
# goes over.
find_primary() {
  case "$(field role):$(field master_link_status)" in slave:down) ;; *) return 0 ;; esac
  primary=$(own_line | awk '{ print $4 }')
  now=$(own_cli cluster nodes | tr -d '\\r' | grep "^$primary " | awk '{ sub(/:[0-9]+@.*/, "", $2); print $2 }')
  [ -z "$now" ] || [ "$now" = "$(field master_host)" ] || own_cli cluster replicate "$primary" > /dev/null || true
}
# When all pods have new addresses at once, no node finds another: each asks by the names of the pods. Only a node that takes the identity of
# this cluster and has an ID that this node knows is met, at the address that it says itself. The others hear of it from these two.
find_peers() {
  case $(own_cli cluster info) in '' | *cluster_state:ok*) return 0 ;; esac
  known=$(own_cli cluster nodes | tr -d '\\r')
  met_by=$(($(uptime_ms) + 2500))
  next=$(cat /run/redis/next-peer 2> /dev/null) || next=0
  case $next in '' | *[!0-9]*) next=0 ;; esac
  number=0
  for p in $(peers); do
    number=$((number + 1))
    [ "$number" -gt "$next" ] || continue
    if [ "$(uptime_ms)" -gt "$met_by" ]; then
      echo "$((number - 1))" > /run/redis/next-peer
      return 0
    fi
    id=$(peer_cli "$p" cluster myid | tr -d '\\r') || continue
    case $id in *[!0-9a-f]* | '') continue ;; esac
    printf '%s\\n' "$known" | grep -E "^$id " | grep -qvE ' ([a-z?,]*,)?(myself|handshake)[, ]|[0-9]+ connected( |$)' || continue
    address=$(peer_cli "$p" config get cluster-announce-ip | tail -n 1 | tr -d '\\r')
    [ -z "$address" ] || own_cli cluster meet "$address" 6379 > /dev/null || true
  done
  echo 0 > /run/redis/next-peer
}
`,
  "start-data.sh": `#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
rm -f /run/redis/loading /run/redis/confined
. "$CONFIG_DIR/volume.sh"
judge_volume
blank=yes
[ ! -e /data/initialised ] || blank=no

follow="127.0.0.1 1"
# No list is not an empty one: without it the node does not start.
watchers=$(sentinels)
if [ -z "$watchers" ]; then
  # A blank volume may be one that was lost: only the operator can tell, from the claim and the status.
  if [ "$blank" = no ] || [ -s "$CONFIG_DIR/ephemeral" ]; then follow=""; fi
else
  tries=0
  refused=0
  informed=
  while :; do
    set -- $(named_primary)
    primary=\${1:-}
    if [ -z "$primary" ]; then
      # A node with data waits a little for sentinels that are just out of reach; a blank one has nothing to lose.
      tries=$((tries + 1))
      if [ "$blank" = yes ] || [ "$tries" -ge 5 ]; then break; fi
      sleep 1
    elif [ "$primary" != "$POD_IP" ]; then
      # Otherwise it runs and follows nobody, electable where it has data: the startup probe asks again every second.
      [ "$3" != safe ] || was_here "$primary" || follow="$primary 6379"
      break
    else
      # The sentinels still call this address primary: the process died and came back. A replica takes over, since it
      # may hold acknowledged writes that this disk does not: the one that holds the most.
      if [ "$informed" != "$2" ]; then
        inform "$2" 50 || true
        informed=$2
      fi
      answer=$(sentinel_cli "$2" sentinel failover "$CLUSTER_NAME" || true)
      case $answer in
        *NOGOODSLAVE*)
          refused=$((refused + 1))
          known=$(known_replicas)
          if [ "$known" = 0 ] || [ "$refused" -ge 50 ]; then
            # Another node that had this address is meant where this one held its data elsewhere: that one may have more. On a blank
            # volume it takes no writes, and runs: otherwise nobody could tell why there is no primary.
            if [ "$blank" = no ] && [ "$(cat /data/initialised)" = "$POD_IP" ]; then follow=""; fi
            break
          fi
          ;;
      esac
      sleep 0.2
    fi
  done
  rm -f "$accepted"
  [ -z "\${2:-}" ] || learn_accepted "$2" || true
fi

# It joins a primary that lives, and holds less than that.
case $follow in '' | '127.0.0.1 1') ;; *) [ "$blank" = yes ] || uptime_ms > "$behind" ;; esac
[ -n "$follow" ] || rm -f "$behind"
priority=100
[ "$blank" = no ] && [ ! -e "$behind" ] || priority=0
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
{
  printf 'include %s/redis.conf\\n' "$CONFIG_DIR"
  printf 'dir /data\\nappendonly yes\\nappenddirname appendonlydir\\nappendfilename appendonly.aof\\n'
  # A pod that was made before it was told has what the file says.
  [ "$(most_databases)" = 0 ] || printf 'databases %s\\n' "$(most_databases)"
  printf 'requirepass "%s"\\n' "$escaped"
  default_rule
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'masteruser %s\\nmasterauth %s\\n' "$identity" "$identity_password"
  else
    printf 'masterauth "%s"\\n' "$escaped"
  fi
  printf 'replica-announce-ip %s\\n' "$POD_IP"
  printf 'replica-priority %s\\n' "$priority"
  [ -z "$(read_term)" ] || printf '%s %s\\n' "$carrier" "$(read_term)"
  [ -z "$follow" ] || printf 'replicaof %s\\n' "$follow"
} > "$conf"
unset REDISCLI_AUTH password escaped identity_password
exec "\${SERVER:-redis}-server" "$conf"
`,
  "start-sentinel.sh": `#!/bin/sh
set -eu
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/sentinel.conf
keep_password
rm -f /run/redis/watching /run/redis/confined
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
passwords() {
  printf 'requirepass "%s"\\n' "$escaped"
  default_rule
  if [ -n "$identity_password" ]; then
    identity_rule
    printf 'sentinel sentinel-user %s\\nsentinel sentinel-pass %s\\n' "$identity" "$identity_password"
  else
    printf 'sentinel sentinel-pass "%s"\\n' "$escaped"
  fi
}
login() {
  if [ -n "$identity_password" ]; then
    printf 'sentinel auth-user %s %s\\n' "$CLUSTER_NAME" "$identity"
    printf 'sentinel auth-pass %s %s\\n' "$CLUSTER_NAME" "$identity_password"
  else
    printf 'sentinel auth-pass %s "%s"\\n' "$CLUSTER_NAME" "$escaped"
  fi
}
if [ ! -s "$conf" ]; then
  set -- $(named_primary)
  [ -z "\${2:-}" ] || learn_accepted "$2" || true
  {
    printf 'port 26379\\ndir /tmp\\nprotected-mode no\\n'
    printf 'sentinel myid %s\\n' "$(printf '%s' "$POD_NAMESPACE/$POD_NAME" | sha1sum | cut -c1-40)"
    printf 'sentinel announce-ip %s\\n' "$POD_IP"
    passwords
    if [ -n "\${1:-}" ]; then
      printf 'sentinel monitor %s %s 6379 %s\\n' "$CLUSTER_NAME" "$1" "$(cat "$CONFIG_DIR/quorum")"
      login
      cat "$CONFIG_DIR/sentinel.conf"
    fi
  } > "$conf.new"
  mv "$conf.new" "$conf"
else
  # The same pod, perhaps with another address, as after a node's reboot. Sentinel rewrites passwords without quotes, and
  # would not read back one with a blank in it; users it may have written twice; what it has written of the default user
  # would override requirepass. The identity that it was told while it ran is kept as it is, where the pod has none.
  sed -n 's/^user default //p' "$conf" | tr ' ' '\\n' | sed -n 's/^#//p' | hashes > "$accepted"
  told=no
  if [ -z "$identity_password" ] && grep -q '^sentinel auth-user ' "$conf"; then told=yes; fi
  {
    grep -v -e '^user ' -e '^requirepass ' -e '^sentinel sentinel-' -e '^sentinel auth-' -e '^sentinel announce-ip ' "$conf"
    printf 'sentinel announce-ip %s\\n' "$POD_IP"
    passwords
    if [ "$told" = yes ]; then
      grep -e '^sentinel auth-' "$conf"
      grep -m 1 -e "^user $identity " "$conf" || true
    elif grep -q '^sentinel monitor ' "$conf"; then
      login
    fi
  } > "$conf.new"
  mv "$conf.new" "$conf"
fi
unset REDISCLI_AUTH password escaped identity_password
exec "\${SERVER:-redis}-server" "$conf" --sentinel
`,
  "start-shard.sh": `#!/bin/sh
set -eu
# The first process of a container ignores SIGTERM unless it says otherwise.
trap 'exit 143' TERM
. "$CONFIG_DIR/library.sh"
conf=/run/redis/redis.conf
keep_password
rm -f /run/redis/loading /run/redis/next-peer
. "$CONFIG_DIR/volume.sh"
. "$CONFIG_DIR/shard.sh"
judge_volume
# Without its data, a node would serve its slots empty, and its replicas would copy that. It starts as a new node, which has no slots.
if [ -e "$nodes_file" ] && [ ! -s "$manifest" ]; then mv -f "$nodes_file" "$nodes_file.without-data"; fi
# With data and no nodes.conf, a server takes the slots of its keys, though another node may have served them since.
if [ ! -e "$nodes_file" ] && [ -e "$manifest" ]; then
  if [ -e /data/appendonlydir.without-nodes ]; then
    echo "/data holds data without nodes.conf, and appendonlydir.without-nodes from before: delete one of them" >&2
    exit 1
  fi
  rm -f "$mark"
  mv /data/appendonlydir /data/appendonlydir.without-nodes
fi
# Only a new pod may have missed a change of the password.
if [ "$is_new" = yes ]; then
  for p in $(peers | head -n 5); do
    told=$(peer_cli "$p" acl getuser default | hashes)
    [ -n "$told" ] || continue
    printf '%s\\n' "$told" > "$accepted"
    break
  done
fi
client_rule() {
  {
    [ ! -s "$accepted" ] || cat "$accepted"
    if [ "$is_new" = yes ] || [ ! -s "$accepted" ]; then hash_of "$password"; fi
  } | hashes | awk '{ rule = rule " #" $0 } END { printf "user default on%s ~* &* +@all %s\\n", rule, "SHARD_CLIENT_RULE" }'
}
priority=100
unelected=no
if [ ! -e "$mark" ] || [ -e "$behind" ]; then
  priority=0
  unelected=yes
fi
escaped=$(printf '%s' "$password" | sed 's/[\\\\"]/\\\\&/g')
{
  printf 'include %s/redis.conf\\n' "$CONFIG_DIR"
  printf 'dir /data\\nappendonly yes\\nappenddirname appendonlydir\\nappendfilename appendonly.aof\\n'
  printf 'cluster-enabled yes\\ncluster-config-file nodes.conf\\n'
  printf 'cluster-announce-ip %s\\nreplica-announce-ip %s\\n' "$POD_IP" "$POD_IP"
  printf 'cluster-announce-hostname %s.%s.%s.svc\\n' "$POD_NAME" "$CLUSTER_NAME" "$POD_NAMESPACE"
  printf 'requirepass "%s"\\n' "$escaped"
  client_rule
  identity_rule
  printf 'masteruser %s\\nmasterauth %s\\n' "$identity" "$identity_password"
  printf 'replica-priority %s\\ncluster-replica-no-failover %s\\n' "$priority" "$unelected"
} > "$conf"
unset REDISCLI_AUTH password escaped identity_password
exec "\${SERVER:-redis}-server" "$conf"
`,
  "volume.sh": `mark=/data/initialised
received=/data/dump.rdb
unfinished=/data/appendonlydir/temp-appendonly.aof.incr
behind=/run/redis/behind
# Whether a copy has begun since the mark was given. Equal times count.
is_overtaken() {
  [ ! -e "$unfinished" ] || return 0
  [ -e "$received" ] && [ ! "$mark" -nt "$received" ]
}
used=/data/databases
most_databases() {
  most=$(cat "$used" 2> /dev/null) || most=
  case $most in '' | *[!0-9]* | ?????*) most=0 ;; esac
  [ "$most" -ge "\${DATABASES:-0}" ] || most=$DATABASES
  echo "$most"
}
keep_databases() {
  most=$(most_databases)
  [ "$most" != 0 ] && [ "$(cat "$used" 2> /dev/null)" != "$most" ] || return 0
  if printf '%s\\n' "$most" 2> /dev/null > "$used.new" && mv -f "$used.new" "$used"; then sync "$used" 2> /dev/null || true; fi
}
# Before the server starts.
judge_volume() {
  keep_databases
  if is_overtaken; then rm -f "$mark"; fi
  # Of a rewrite or a copy in whose middle the process was killed. Servers neither read nor delete them: they would fill the volume.
  rm -f /data/temp-rewriteaof-*.aof /data/temp-[0-9]*.rdb || true
  # With dump.rdb it is all that a person could recover the copy from.
  [ ! -e "$unfinished" ] || mv -f "$unfinished" /data/unfinished.aof
  # Times by the clock of another Kubernetes node mean nothing here.
  [ ! -e "$received" ] || touch -t 200001010000 "$received"
  [ ! -e "$mark" ] || touch "$mark"
}
# Asks the server. A mark that is due is dated before, so that a copy that begins meanwhile is newer.
look() {
  keep_databases
  due=no
  stale=no
  if [ ! -e "$mark" ] || is_overtaken; then stale=yes; fi
  if [ "$stale" = yes ] || [ "$(cat "$mark" 2> /dev/null)" != "$POD_IP" ]; then
    if printf '%s\\n' "$POD_IP" 2> /dev/null > "$mark.new"; then due=yes; fi
  fi
  info=$(local_cli info | tr -d '\\r')
}
# Values may hold colons, as IPv6 addresses do.
field() { printf '%s\\n' "$info" | sed -n "s/^$1://p"; }
# Whether the primary at this address is this very node, from before it got another one: the sentinels have yet to miss it. Not where
# another has become primary there.
was_here() {
  [ "$(cat "$mark" 2> /dev/null)" = "$1" ] && [ "$(node_cli "$1" role | head -n 1 | tr -d '\\r')" != master ]
}
# It holds less than a primary that lives, and is not elected for as long as that one may come back.
fall_behind() {
  uptime_ms > "$behind"
  local_cli config set replica-priority 0 > /dev/null || true
}
# Of a replica without a link. Nothing that is newer has come back within three minutes: then old data has to do.
settle_behind() {
  if [ "$(field master_sync_in_progress)" = 1 ]; then
    fall_behind
  elif [ "$stale" = yes ] || [ ! -e "$behind" ]; then
    return 0
  elif [ ! -s "$behind" ]; then
    # The process that wrote the file was killed before it had written the time.
    fall_behind
  elif [ "$(($(uptime_ms) - $(cat "$behind")))" -gt 180000 ]; then
    local_cli config set replica-priority 100 > /dev/null || return 0
    rm -f "$behind"
  fi
}
# Whether this server has had its link, and so has loaded a copy, and is not at another. Where the primary ends before the copy is written
# down, this node may be all that holds what the two have acknowledged.
had_link() {
  case $(field master_link_down_since_seconds) in '' | -*) return 1 ;; esac
  [ "$(field aof_enabled):$(field loading):$(field master_sync_in_progress)" = 1:0:0 ]
}
# Takes the mark, or gives it, by what the server said. Succeeds where the append-only file holds the dataset.
settle_mark() {
  case "$(field aof_enabled):$(field role):$(field master_link_status)" in
    1:master:* | 1:slave:up) ;;
    0:*)
      rm -f "$mark"
      case "$(field role):$(field master_link_status)" in
        # Switched off by hand.
        master:* | slave:up) local_cli config set appendonly yes > /dev/null || true ;;
        # By the server, while it loads a copy or since it could not: the node holds a part of the dataset, or nothing.
        *) local_cli config set replica-priority 0 > /dev/null || true ;;
      esac
      return 1
      ;;
    *)
      if [ "$stale" = no ] || ! had_link; then
        settle_behind
        return 1
      fi
      ;;
  esac
  if [ "$stale" = yes ] && [ "$(field aof_rewrite_in_progress):$(field aof_rewrite_scheduled)" != 0:0 ]; then
    rm -f "$mark"
    return 1
  fi
  if [ "$due" = yes ]; then
    mv -f "$mark.new" "$mark"
    sync "$mark" 2> /dev/null || true
    rm -f /data/unfinished.aof
  fi
  [ "$stale" = no ] || local_cli config set replica-priority 100 > /dev/null || true
  if is_overtaken; then return 1; fi
  if [ -e "$behind" ]; then
    [ "$stale" = yes ] || local_cli config set replica-priority 100 > /dev/null || return 0
    rm -f "$behind"
  fi
  return 0
}
record=/data/term
carrier=cluster-announce-hostname
number_of() { case \${1#*-} in '' | *[!0-9]*) echo 0 ;; *) echo "\${1#*-}" ;; esac; }
# The record, or nothing where it is none.
read_term() { case $(cat "$record" 2> /dev/null) in primary-*[!0-9]* | replica-*[!0-9]*) ;; primary-[0-9]* | replica-[0-9]*) cat "$record" ;; esac; }
# Brings the record in line with the role that the server has. What the operator has told the server counts where it is later.
settle_term() {
  [ -n "$info" ] || return 0
  written=$(read_term)
  told=$(local_cli config get "$carrier" | tail -n 1 | tr -d '\\r')
  term=$written
  [ "$(number_of "$told")" -le "$(number_of "$written")" ] || term=$told
  number=$(number_of "$term")
  case "$(field role):$(field master_link_status)" in
    master:*)
      case $term in primary-*) ;; *) term=primary-$((number + 1)) ;; esac
      ;;
    slave:up)
      primary=$(node_cli "$(field master_host)" config get "$carrier" | tail -n 1 | tr -d '\\r')
      case $primary in primary-*) [ "$(number_of "$primary")" -le "$number" ] || number=$(number_of "$primary") ;; esac
      # It holds the dataset of another now, whatever it was before.
      [ "$number" = 0 ] || term=replica-$number
      ;;
  esac
  if [ -n "$term" ] && [ "$term" != "$written" ]; then
    if printf '%s
' "$term" 2> /dev/null > "$record.new"; then
      mv -f "$record.new" "$record"
      sync "$record" 2> /dev/null || true
    fi
  fi
  [ -z "$term" ] || [ "$term" = "$told" ] || local_cli config set "$carrier" "$term" > /dev/null || true
}
`,
  "watching.sh": `#!/bin/sh
set -eu
. "$CONFIG_DIR/library.sh"
settle_password 26379 || true
timeout 2 "$cli" -p 26379 sentinel debug info-period "$(cat "$CONFIG_DIR/info-period-ms")" > /dev/null 2>&1 || true
confine_sentinel_clients || true
answer=$(timeout 2 "$cli" -p 26379 sentinel get-master-addr-by-name "$CLUSTER_NAME" 2>&1) || true
case $answer in
  *NOAUTH* | *'AUTH failed'* | *'max number of clients'* | Error:*) [ -e /run/redis/watching ] ;;
  # An address of version 4 or 6.
  [0-9a-f]*[.:]*) : > /run/redis/watching ;;
  *)
    rm -f /run/redis/watching
    exit 1
    ;;
esac
`
};

// src/engines/redis/resources/scripts.ts
var library = texts["library.sh"].replace(" CLIENT_RULE", ` ${clientRule.map((rule) => `'${rule}'`).join(" ")}`).replace(" SENTINEL_CLIENT_RULE", ` ${sentinelClientRule}`);
var scripts = {
  /** What the other scripts source: talking to this node, to others and to the sentinels, every call bounded. */
  "library.sh": library,
  /**
   * What a data node's volume says about itself.
   *
   * `/data/initialised` is the mark of a volume whose append-only file holds the node's dataset; its content is the address at
   * which that was so last. Only a node that starts with the mark may be elected, or be made primary.
   *
   * A server that copies its primary's dataset loads it into memory, acknowledges writes from then on, and only then begins to
   * rewrite the append-only file. Until that has ended, a restart finds the data from before the copy. Nothing tells the pod
   * when a copy begins, and a process may be killed at any moment. But a copy leaves traces on the disk before its first
   * acknowledgement: the server receives it into `dump.rdb`, and appends to a file of another name until the rewrite is done.
   * So the mark is valid only where it is newer than the former, and the latter is not there.
   *
   * A node may also hold less than a primary that lives: its own from before it restarted, or from before a copy that is under way. Sentinel
   * would elect it where that primary's process is killed, which comes back with all that it had. `/run/redis/behind` says when such a
   * primary lived last, by the clock of the machine; it outlives the container, as the address does by which sentinels know the node.
   *
   * `/data/term` says in which term the node was primary, or whose replica it was: `primary-7`, `replica-7`. A term is a node's time
   * as primary; each is one more than the last that the node knew. Sentinels forget theirs when the power fails, and the
   * operator may have been away: then the highest term of the volumes tells who was primary last. The server carries it as
   * `cluster-announce-hostname`, which means nothing without Redis Cluster, so that replicas and the operator can read it.
   *
   * `/data/databases` says how many databases the volume was used with, at most. Another cluster of the name may ask for fewer, and a server
   * that has fewer puts the keys of one into another.
   */
  "volume.sh": texts["volume.sh"],
  /**
   * Entry point of a data node. Decides the role before the server runs.
   *
   * The server takes the last line that it reads of a directive. So those that decide what it loads and where it keeps it
   * follow the included file, whatever somebody has made of that: without `appendonly` a server starts empty and writes
   * over what the volume holds; with fewer databases than its data has, it puts the keys of one into another. The names of
   * the append-only file are those that a restore gives its own (`engines/redis/agent/volume.ts`). The number of databases is the
   * only one of them that a user sets, and comes with the pod; a volume that was used with more keeps them.
   */
  "start-data.sh": texts["start-data.sh"],
  /**
   * Startup probe of a data node: marks the volume with its address once it holds the dataset, and admits the node once the
   * sentinels know it, too. Until then it is in no Service, and a blank node has priority 0, so that no election can make it primary.
   *
   * A sentinel learns of a replica from the primary, every two seconds, and elects another primary after three seconds of
   * silence at the earliest. What a node acknowledges that no sentinel knows is lost with the primary that is replaced: it
   * would stay with that one, and take its writes when it goes on. So such a node stays only as long as it would be safe to
   * join. A node that follows nobody, or a dead address, asks the sentinels again here.
   */
  "admit.sh": texts["admit.sh"],
  /**
   * Readiness of a data node: the process answers and has loaded its data. Whether it has, only one who may ask is told. A node
   * that refuses its own pod (another password was set by hand, as many clients as it takes) stays as it was: it is no
   * less of use to clients than before, and all nodes of a cluster tend to refuse at once.
   */
  "ping.sh": texts["ping.sh"],
  /** Liveness of a server: any reply is life, also a refusal. So it needs no password, and nothing that could be wrong. */
  "alive.sh": texts["alive.sh"],
  /**
   * preStop of a data node: a primary hands its role over before the server gets SIGTERM. Writes are paused, so that
   * nothing can be acknowledged by the old primary that the new one has not got; then Sentinel is asked, and this node
   * follows whom Sentinel promoted. Bounded at about 10 s in all; when it cannot, it gives up and leaves the rest to
   * the ordinary failover. Whatever its role, a server that has just copied the dataset gets up to 20 s more to write it.
   */
  "hand-over.sh": texts["hand-over.sh"],
  /**
   * Entry point of a sentinel. Its identity comes from its pod's name, so a sentinel that returns with another address
   * replaces itself in its peers' lists instead of adding a voter. A fresh one learns the primary from its peers; when
   * none knows, it starts without and the operator tells it.
   */
  "start-sentinel.sh": texts["start-sentinel.sh"],
  /**
   * Readiness of a sentinel: it watches a primary. One that refuses its own pod stays as it was. It also has it ask the nodes
   * every two seconds or sooner (`timing.ts`) instead of ten what they know, which is no directive: a replica that no sentinel
   * has heard of is not admitted.
   */
  "watching.sh": texts["watching.sh"],
  "sentinel-alive.sh": texts["sentinel-alive.sh"]
};

// src/engines/redis/resources/shards/scripts.ts
var shardScripts = {
  "library.sh": scripts["library.sh"],
  "volume.sh": scripts["volume.sh"],
  "alive.sh": scripts["alive.sh"],
  /** What the others source: asking nodes as the cluster, finding nodes at new addresses, and who may be elected. */
  "shard.sh": texts["shard.sh"],
  /** Entry point. On a blank volume the server gives itself a new ID, and has no slots: the operator makes it a replica. */
  "start-shard.sh": texts["start-shard.sh"].replace("SHARD_CLIENT_RULE", shardClientRule.join(" ")),
  /** Startup probe: a primary with slots, or a replica whose append-only file holds what it has copied. */
  "admit-shard.sh": texts["admit-shard.sh"],
  /** Readiness, as `ping.sh`. When the cluster is down, it looks for nodes that have another address. */
  "ready-shard.sh": texts["ready-shard.sh"],
  /** preStop: a replica takes over by `CLUSTER FAILOVER` before the server gets SIGTERM. Bounded at about 10 s, and 20 s for a copy. */
  "hand-over-shard.sh": texts["hand-over-shard.sh"]
};

// test/support/redis-program.ts
import { existsSync as existsSync2, mkdirSync as mkdirSync2, renameSync as renameSync2, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join as join3 } from "node:path";

// test/support/image-layer.ts
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join as join2 } from "node:path";

// src/engines/redis/images.ts
var redisImages = [
  {
    name: "redis:7.0",
    standsInFor: ["docker.io/library/redis:7.0"],
    layers: [
      {
        kind: "debian",
        suite: "bookworm",
        packages: ["redis-server", "redis-tools", "coreutils", "dash"],
        without: "perl"
      }
    ],
    config: {}
  },
  {
    name: "redis:8.0",
    standsInFor: ["docker.io/library/redis:8.0"],
    layers: [{ kind: "debian", suite: "trixie", packages: ["redis-server", "redis-tools", "coreutils", "dash"] }],
    config: {}
  },
  {
    name: "valkey:8.1",
    standsInFor: ["docker.io/valkey/valkey:8.1"],
    layers: [{ kind: "debian", suite: "trixie", packages: ["valkey-server", "valkey-tools", "coreutils", "dash"] }],
    config: {}
  },
  {
    name: "valkey:9.1",
    standsInFor: ["docker.io/valkey/valkey:9.1"],
    layers: [
      {
        kind: "debian",
        suite: "forky",
        packages: ["valkey-server", "valkey-tools", "coreutils", "dash"],
        without: "perl"
      }
    ],
    config: {}
  },
  // The first release of Debian with a version that can be told to ask nobody but its own server.
  {
    name: "redis-exporter:1.86",
    standsInFor: ["docker.io/oliver006/redis_exporter:v1.86.0-alpine"],
    layers: [{ kind: "debian", suite: "forky", packages: ["prometheus-redis-exporter"], without: "perl" }],
    config: {}
  }
];

// src/sandbox/images/recipe.ts
import { createHash as createHash2 } from "node:crypto";
var builderVersion = 1;
function recipeKey(recipe) {
  const text2 = JSON.stringify([builderVersion, process.arch, recipe]);
  return createHash2("sha256").update(text2).digest("hex").slice(0, 16);
}

// src/sandbox/coredns.ts
var plugins2 = ["bind", "errors", "kubernetes"];
var corednsMain = `package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
${plugins2.map((name) => `	_ "github.com/coredns/coredns/plugin/${name}"`).join("\n")}
)

func main() {
	dnsserver.Directives = []string{${plugins2.map((name) => `"${name}"`).join(", ")}}
	coremain.Run()
}
`;

// src/sandbox/error.ts
var SandboxError = class extends Error {
  name = "SandboxError";
};

// src/sandbox/layout.ts
import { homedir } from "node:os";
import { join } from "node:path";
var versions = {
  kubernetes: "v1.35.4",
  etcd: "v3.6.16",
  coredns: "v1.14.7",
  versitygw: "v1.8.0",
  helm: "v3.18.6",
  networkPolicies: "v0.8.0"
};
var cgroupName = "clusterwright";
var controlCgroup = `${cgroupName}/control`;
function layoutOf(env) {
  const run2 = env.CLUSTERWRIGHT_RUN;
  return {
    run: run2 ?? "/run/clusterwright",
    data: run2 === void 0 ? "/var/lib/clusterwright" : join(run2, "data"),
    cache: env.CLUSTERWRIGHT_CACHE ?? join(homedir(), ".cache", "clusterwright")
  };
}

// src/sandbox/network-policies-main.ts
var networkPoliciesMain = `package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig")
	queue := flag.Int("queue", 0, "netfilter queue to serve")
	flag.Parse()
	if err := run(*kubeconfig, *queue); err != nil {
		log.Fatal(err)
	}
}

func run(kubeconfig string, queue int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := networkpolicy.NewController(
		client,
		factory.Networking().V1().NetworkPolicies(),
		factory.Core().V1().Namespaces(),
		factory.Core().V1().Pods(),
		nil, nil, nil, nil,
		networkpolicy.Config{FailOpen: true, QueueID: queue, NodeName: "none", NFTableName: "clusterwright"},
	)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	factory.Start(ctx.Done())
	return controller.Run(ctx)
}
`;

// src/sandbox/binaries.ts
var kubernetes = { name: "kubernetes", module: "k8s.io/kubernetes", version: versions.kubernetes };
var etcd = { name: "etcd", module: "go.etcd.io/etcd/server/v3", version: versions.etcd };
var versitygw = {
  name: "versitygw",
  module: "github.com/versity/versitygw",
  version: versions.versitygw
};
var helm = { name: "helm", module: "helm.sh/helm/v3", version: versions.helm };
var coredns = {
  name: "coredns",
  module: "github.com/coredns/coredns",
  version: versions.coredns,
  main: corednsMain
};
var networkPolicies = {
  name: "kube-network-policies",
  module: "sigs.k8s.io/kube-network-policies",
  version: versions.networkPolicies,
  main: networkPoliciesMain
};
function program(name) {
  switch (name) {
    case "etcd":
      return { name, source: etcd, package: etcd.module };
    case "versitygw":
      return { name, source: versitygw, package: `${versitygw.module}/cmd/versitygw` };
    case "helm":
      return { name, source: helm, package: `${helm.module}/cmd/helm` };
    case "coredns":
      return { name, source: coredns, package: "." };
    case "kube-network-policies":
      return { name, source: networkPolicies, package: "." };
    default:
      return { name, source: kubernetes, package: `${kubernetes.module}/cmd/${name}` };
  }
}

// src/sandbox/images/recipes.ts
var node = [
  { kind: "debian", suite: "bookworm", packages: ["libstdc++6", "ca-certificates", "tzdata"] },
  { kind: "npm", package: "node-linux-ARCH", version: "22.23.3", file: "bin/node", to: "/usr/local/bin/node" }
];
var operatorImage = "clusterwright:dev";
var ownImages = [
  {
    // Keeps objects as files of a directory.
    name: "s3:dev",
    layers: [{ kind: "program", program: program("versitygw"), to: "/usr/local/bin/versitygw" }],
    config: { entrypoint: ["/usr/local/bin/versitygw"] }
  },
  { name: "node:22", layers: node, config: { entrypoint: ["/usr/local/bin/node"] } }
];
function findRecipe(name, images2 = []) {
  const recipes = [...images2, ...ownImages];
  const found2 = recipes.find((recipe) => recipe.name === name);
  if (found2 !== void 0) return found2;
  const names2 = [...recipes.map((recipe) => recipe.name), operatorImage].join(", ");
  throw new SandboxError(`no image is called ${name}; there are: ${names2}`);
}

// test/support/image-layer.ts
var { cache } = layoutOf(process.env);
function unpackedImage(name) {
  const [layer] = findRecipe(name, redisImages).layers;
  if (layer === void 0) return void 0;
  const key = recipeKey(layer);
  const archive = join2(cache, "layers", `${key}.tar`);
  const root = join2(cache, "test-programs", `${name.replace(":", "-")}-${key}`);
  if (existsSync(root)) return root;
  if (!existsSync(archive)) return void 0;
  mkdirSync(join2(cache, "test-programs"), { recursive: true });
  const temporary = mkdtempSync(join2(cache, "test-programs", "unpacking-"));
  execFileSync("tar", ["-xf", archive, "-C", temporary]);
  try {
    renameSync(temporary, root);
  } catch {
    rmSync(temporary, { recursive: true });
  }
  return root;
}

// test/support/redis-server.ts
import { spawn, spawnSync } from "node:child_process";

// src/api/prune.ts
function schemaOfKey(schema, key) {
  const { properties } = schema;
  if (properties !== void 0 && Object.hasOwn(properties, key)) return properties[key];
  return schema.additionalProperties;
}
function prune(schema, value, path = []) {
  const unknown = [];
  const visit = (node2, input, at) => {
    if (Array.isArray(input)) {
      const { items } = node2;
      return items === void 0 ? structuredClone(input) : input.map((item, i2) => visit(items, item, [...at, i2]));
    }
    if (typeof input !== "object" || input === null) return input;
    const keeps = node2["x-kubernetes-preserve-unknown-fields"] === true;
    return Object.fromEntries(
      Object.entries(input).flatMap(([key, child]) => {
        const childSchema = schemaOfKey(node2, key);
        if (childSchema === void 0) {
          if (keeps) return [[key, structuredClone(child)]];
          unknown.push([...at, key]);
          return [];
        }
        if (child === null) return childSchema.nullable === true ? [[key, null]] : [];
        return [[key, visit(childSchema, child, [...at, key])]];
      })
    );
  };
  return { value: visit(schema, value, path), unknown };
}

// src/api/bounds.ts
var longestAnswerBytes = 64 * 1024;
var longestPickedBytes = 1024 * 1024;
var longestOpenValue = 16 * 1024;

// test/support/redis-server.ts
var installedVersion = /v=(\d+\.\d+)/.exec(
  spawnSync("redis-server", ["--version"], { encoding: "utf8" }).stdout ?? ""
)?.[1];

// test/support/redis-program.ts
var libraries = [
  "usr/lib/x86_64-linux-gnu",
  "lib/x86_64-linux-gnu",
  "usr/lib/aarch64-linux-gnu",
  "lib/aarch64-linux-gnu"
];
var loaders = ["lib64/ld-linux-x86-64.so.2", "usr/lib64/ld-linux-x86-64.so.2", "lib/ld-linux-aarch64.so.1"];
function programOf(engine, version2) {
  const { program: program2 } = releases[engine];
  const root = unpackedImage(`${program2}:${version2}`);
  const loader = loaders.map((name) => join3(root ?? "", name)).find((path2) => root !== void 0 && existsSync2(path2));
  if (root === void 0 || loader === void 0) return void 0;
  const path = libraries.map((name) => join3(root, name)).join(":");
  const command = (name) => [loader, "--library-path", path, join3(root, "usr/bin", name)];
  const [server, cli] = [command(`${program2}-server`), command(`${program2}-cli`)];
  return { engine, version: version2, name: `${engine} ${version2}`, server, cli };
}
var images = [
  ["Redis", "7.0"],
  ["Redis", "8.0"],
  ["Valkey", "8.1"],
  ["Valkey", "9.1"]
];
var unpacked = images.flatMap(([engine, version2]) => programOf(engine, version2) ?? []);
function installedPath(name) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join3(folder, name)).find((path) => existsSync2(path)) ?? name;
}
var installed = installedVersion === void 0 ? [] : [
  {
    engine: "Redis",
    version: installedVersion,
    name: `Redis ${installedVersion}`,
    server: [installedPath("redis-server")],
    cli: [installedPath("redis-cli")]
  }
];
var all = [
  ...installed.filter(({ name }) => !unpacked.some((each) => each.name === name)),
  ...unpacked
];
var isEveryVersionWanted = process.env.CLUSTERWRIGHT_ALL_VERSIONS !== void 0;
var serverPrograms = all.filter(
  ({ engine }, i2) => isEveryVersionWanted || !all.slice(i2 + 1).some((later) => later.engine === engine)
);
var redisPrograms = new Map(
  unpacked.flatMap(({ engine, version: version2, server }) => engine === "Redis" ? [[version2, server]] : [])
);
function programFolder({ engine, name, server, cli }) {
  const folder = join3(tmpdir(), `server-programs-${name.replace(" ", "-")}`);
  mkdirSync2(folder, { recursive: true });
  for (const [what, command] of Object.entries({ server, cli })) {
    const path = join3(folder, `${releases[engine].program}-${what}`);
    const own = `${path}-${process.pid}`;
    writeFileSync(own, `#!/bin/sh
exec ${command.map((word) => `'${word}'`).join(" ")} "$@"
`, { mode: 493 });
    renameSync2(own, path);
  }
  return folder;
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/errors.js
var CelError = class extends Error {
  #node;
  #code;
  #range;
  #summary;
  constructor({ name, code, message, node: node2, cause, range }) {
    super(message, cause ? { cause } : void 0);
    this.name = name;
    this.#code = code;
    this.#summary = message;
    this.#node = node2;
    this.#range = range && normalizeRange(range) || normalizeRange(node2);
    if (!node2?.input) return;
    this.message = formatErrorWithHighlight(this.#summary, node2, this.#range);
  }
  get node() {
    return this.#node;
  }
  get code() {
    return this.#code;
  }
  get range() {
    return this.#range;
  }
  get summary() {
    return this.#summary;
  }
  withAst(node2) {
    if (this.#node || !node2?.input) return this;
    this.#node = node2;
    this.#range ??= normalizeRange(node2);
    this.message = formatErrorWithHighlight(this.#summary, node2, this.#range);
    return this;
  }
};
function normalizeArgs(name, defaultCode, message, node2, cause) {
  if (typeof message === "string") return { name, code: defaultCode, message, node: node2, cause };
  const opts = message;
  if (typeof opts !== "object") throw new Error("First param to error must be a string or object");
  return {
    name,
    code: opts.code || defaultCode,
    message: opts.message,
    node: opts.node,
    cause: opts.cause,
    range: opts.range
  };
}
var ParseError = class extends CelError {
  constructor(message, node2, cause) {
    super(normalizeArgs("ParseError", "parse_error", message, node2, cause));
  }
};
var EvaluationError = class extends CelError {
  constructor(message, node2, cause) {
    super(normalizeArgs("EvaluationError", "evaluation_error", message, node2, cause));
  }
};
var TypeError2 = class extends CelError {
  constructor(message, node2, cause) {
    super(normalizeArgs("TypeError", "type_error", message, node2, cause));
  }
};
function parseError(code, message, node2) {
  if (typeof code === "object") return new ParseError(code);
  return new ParseError({ code, message, node: node2 });
}
function evaluationError(code, message, node2) {
  if (typeof code === "object") return new EvaluationError(code);
  return new EvaluationError({ code, message, node: node2 });
}
function typeError(code, message, node2) {
  if (typeof code === "object") return new TypeError2(code);
  return new TypeError2({ code, message, node: node2 });
}
function normalizeRange(node2) {
  const start = node2?.pos ?? node2?.start;
  if (typeof start !== "number") return;
  const end = typeof node2.end === "number" ? node2.end : start;
  return { start, end };
}
function formatErrorWithHighlight(message, node2, range) {
  const pos = node2.pos ?? range?.start;
  if (typeof pos !== "number") return message;
  const input = node2.input;
  let lineNum = 1;
  let currentPos = 0;
  let columnNum = 0;
  while (currentPos < pos) {
    if (input[currentPos] === "\n") {
      lineNum++;
      columnNum = 0;
    } else {
      columnNum++;
    }
    currentPos++;
  }
  let contextStart = pos;
  let contextEnd = pos;
  while (contextStart > 0 && input[contextStart - 1] !== "\n") contextStart--;
  while (contextEnd < input.length && input[contextEnd] !== "\n") contextEnd++;
  const line2 = input.slice(contextStart, contextEnd);
  const highlight = `> ${`${lineNum}`.padStart(4, " ")} | ${line2}
${" ".repeat(9 + columnNum)}^`;
  return `${message}

${highlight}`;
}
function attachErrorAst(error, node2) {
  if (error instanceof CelError) return error.withAst(node2);
  return error;
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/optional.js
var Optional = class _Optional {
  #value;
  constructor(value) {
    this.#value = value;
  }
  static of(value) {
    if (value === void 0) return OPTIONAL_NONE;
    return new _Optional(value);
  }
  static none() {
    return OPTIONAL_NONE;
  }
  hasValue() {
    return this.#value !== void 0;
  }
  value() {
    if (this.#value === void 0) {
      throw evaluationError("optional_value_missing", "Optional value is not present");
    }
    return this.#value;
  }
  or(optional) {
    if (this.#value !== void 0) return this;
    if (optional instanceof _Optional) return optional;
    throw evaluationError(
      "invalid_optional_argument",
      "Optional.or must be called with an Optional argument"
    );
  }
  orValue(defaultValue) {
    return this.#value === void 0 ? defaultValue : this.#value;
  }
  get [Symbol.toStringTag]() {
    return "optional";
  }
  [/* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom")]() {
    return this.#value === void 0 ? `Optional { none }` : `Optional { value: ${JSON.stringify(this.#value)} }`;
  }
};
var OPTIONAL_NONE = Object.freeze(new Optional());
var OptionalNamespace = class {
};
var optionalNamespace = new OptionalNamespace();
function toggleOptionalTypes(registry, enable) {
  const optionalConstant = enable ? optionalNamespace : void 0;
  registry.deleteVariable("optional");
  registry.registerConstant("optional", "OptionalNamespace", optionalConstant);
}
function register(registry) {
  const sync = { async: false };
  const functionOverload = (sig, handler) => registry.registerFunctionOverload(sig, handler, sync);
  const optionalConstant = registry.enableOptionalTypes ? optionalNamespace : void 0;
  registry.registerType("OptionalNamespace", OptionalNamespace);
  registry.registerConstant("optional", "OptionalNamespace", optionalConstant);
  functionOverload("optional.hasValue(): bool", (v) => v.hasValue());
  functionOverload("optional<A>.value(): A", (v) => v.value());
  registry.registerFunctionOverload("OptionalNamespace.none(): optional<T>", () => Optional.none());
  functionOverload("OptionalNamespace.of(A): optional<A>", (_, value) => Optional.of(value));
  function ensureOptional(value, ast, description) {
    if (value instanceof Optional) return value;
    throw evaluationError("optional_expected", `${description} must be optional`, ast);
  }
  function evaluateOptional(ev, macro, ctx) {
    const v = ev.run(macro.receiver, ctx);
    if (v instanceof Promise) return v.then((_v) => handleOptionalResolved(_v, ev, macro, ctx));
    return handleOptionalResolved(v, ev, macro, ctx);
  }
  function handleOptionalResolved(value, ev, macro, ctx) {
    const optional = ensureOptional(value, macro.receiver, `${macro.functionDesc} receiver`);
    if (optional.hasValue()) return macro.onHasValue(optional);
    return macro.onEmpty(ev, macro, ctx);
  }
  function ensureOptionalType(checker, node2, ctx, description) {
    const type3 = checker.check(node2, ctx);
    if (type3.kind === "optional") return type3;
    if (type3.kind === "dyn") return checker.getType("optional");
    throw checker.createError("optional_expected", `${description} must be optional, got '${type3}'`, node2);
  }
  function createOptionalMacro({ functionDesc, evaluate: evaluate3, typeCheck, onHasValue, onEmpty }) {
    return ({ ast, args, receiver }) => ({
      ast,
      functionDesc,
      receiver,
      arg: args[0],
      evaluate: evaluate3,
      typeCheck,
      onHasValue,
      onEmpty
    });
  }
  const invalidOrValueReceiver = "optional.orValue() receiver";
  const invalidOrReceiver = "optional.or(optional) receiver";
  const invalidOrArg = "optional.or(optional) argument";
  registry.registerFunctionOverload(
    "optional.or(ast): optional<dyn>",
    createOptionalMacro({
      functionDesc: "optional.or(optional)",
      evaluate: evaluateOptional,
      typeCheck(check2, macro, ctx) {
        const l = ensureOptionalType(check2, macro.receiver, ctx, invalidOrReceiver);
        const r = ensureOptionalType(check2, macro.arg, ctx, invalidOrArg);
        if (!(macro.receiver.maybeAsync || macro.arg.maybeAsync)) macro.ast.setMeta("async", false);
        const unified = l.unify(check2.registry, r);
        if (unified) return unified;
        throw check2.createError(
          "incompatible_argument_type",
          `${macro.functionDesc} argument must be compatible type, got '${l}' and '${r}'`,
          macro.arg
        );
      },
      onHasValue: (optional) => optional,
      onEmpty(ev, macro, ctx) {
        const ast = macro.arg;
        const v = ev.run(ast, ctx);
        if (v instanceof Promise) return v.then((_v) => ensureOptional(_v, ast, invalidOrArg));
        return ensureOptional(v, ast, invalidOrArg);
      }
    })
  );
  registry.registerFunctionOverload(
    "optional.orValue(ast): dyn",
    createOptionalMacro({
      functionDesc: "optional.orValue(value)",
      onHasValue: (optionalValue) => optionalValue.value(),
      onEmpty(ev, macro, ctx) {
        return ev.run(macro.arg, ctx);
      },
      evaluate: evaluateOptional,
      typeCheck(check2, macro, ctx) {
        const l = ensureOptionalType(check2, macro.receiver, ctx, invalidOrValueReceiver).valueType;
        const r = check2.check(macro.arg, ctx);
        if (!(macro.receiver.maybeAsync || macro.arg.maybeAsync)) macro.ast.setMeta("async", false);
        const unified = l.unify(check2.registry, r);
        if (unified) return unified;
        throw check2.createError(
          "incompatible_argument_type",
          `${macro.functionDesc} argument must be compatible type, got '${l}' and '${r}'`,
          macro.arg
        );
      }
    })
  );
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/globals.js
var hasOwn = Object.hasOwn;
var objKeys = Object.keys;
var objFreeze = Object.freeze;
var objEntries = Object.entries;
var isArray = Array.isArray;
var arrayFrom = Array.from;
var MIN_UINT = 0n;
var MAX_UINT = 18446744073709551615n;
var MAX_INT = 9223372036854775807n;
var MIN_INT = -9223372036854775808n;
function isAsync(fn, fallback) {
  if (fn?.[Symbol.toStringTag] === "AsyncFunction") return true;
  return typeof fallback === "boolean" ? fallback : true;
}
var RESERVED = /* @__PURE__ */ new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "for",
  "function",
  "if",
  "import",
  "let",
  "loop",
  "package",
  "namespace",
  "return",
  "var",
  "void",
  "while",
  "__proto__",
  "prototype"
]);

// ../../main/node_modules/@marcbachmann/cel-js/lib/functions.js
var UnsignedInt = class {
  #value;
  constructor(value) {
    this.verify(typeof value === "bigint" ? value : BigInt(value));
  }
  get value() {
    return this.#value;
  }
  valueOf() {
    return this.#value;
  }
  toString() {
    return `${this.#value}`;
  }
  verify(v) {
    if (v < MIN_UINT || v > MAX_UINT) {
      throw evaluationError("numeric_overflow", "Unsigned integer overflow");
    }
    this.#value = v;
  }
  get [Symbol.toStringTag]() {
    return `value = ${this.#value}`;
  }
  [/* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom")]() {
    return `UnsignedInteger { value: ${this.#value} }`;
  }
};
var billion = 1e9;
var billionBigInt = 1000000000n;
var UNIT_NANOSECONDS = {
  h: 3600000000000n,
  m: 60000000000n,
  s: billionBigInt,
  ms: 1000000n,
  us: 1000n,
  \u00B5s: 1000n,
  ns: 1n
};
var Duration = class _Duration {
  #seconds;
  #nanos;
  constructor(seconds, nanos = 0) {
    this.#seconds = BigInt(seconds);
    this.#nanos = nanos;
  }
  get seconds() {
    return this.#seconds;
  }
  get nanos() {
    return this.#nanos;
  }
  valueOf() {
    return Number(this.#seconds) * 1e3 + this.#nanos / 1e6;
  }
  static fromMilliseconds(ms) {
    const totalNanos = BigInt(Math.trunc(ms * 1e6));
    const seconds = totalNanos / billionBigInt;
    const nanos = Number(totalNanos % billionBigInt);
    return new _Duration(seconds, nanos);
  }
  addDuration(other) {
    const nanos = this.#nanos + other.nanos;
    return new _Duration(
      this.#seconds + other.seconds + BigInt(Math.floor(nanos / billion)),
      nanos % billion
    );
  }
  subtractDuration(other) {
    const nanos = this.#nanos - other.nanos;
    return new _Duration(
      this.#seconds - other.seconds + BigInt(Math.floor(nanos / billion)),
      (nanos + billion) % billion
    );
  }
  extendTimestamp(ts) {
    return new Date(
      ts.getTime() + Number(this.#seconds) * 1e3 + Math.floor(this.#nanos / 1e6)
    );
  }
  subtractTimestamp(ts) {
    return new Date(
      ts.getTime() - Number(this.#seconds) * 1e3 - Math.floor(this.#nanos / 1e6)
    );
  }
  toString() {
    const nanos = this.#nanos ? (this.#nanos / billion).toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 9 }).slice(1) : "";
    return `${this.#seconds}${nanos}s`;
  }
  getHours() {
    return this.#seconds / 3600n;
  }
  getMinutes() {
    return this.#seconds / 60n;
  }
  getSeconds() {
    return this.#seconds;
  }
  getMilliseconds() {
    return this.#seconds * 1000n + BigInt(Math.floor(this.#nanos / 1e6));
  }
  get [Symbol.toStringTag]() {
    return "google.protobuf.Duration";
  }
  [/* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom")]() {
    return `google.protobuf.Duration { seconds: ${this.#seconds}, nanos: ${this.#nanos} }`;
  }
};
function registerFunctions(registry) {
  const sync = { async: false };
  const functionOverload = (sig, handler) => registry.registerFunctionOverload(sig, handler, sync);
  const identity2 = (v) => v;
  functionOverload("dyn(dyn): dyn", identity2);
  for (const _t in TYPES) {
    const type3 = TYPES[_t];
    if (!(type3 instanceof Type)) continue;
    functionOverload(`type(${type3.name}): type`, () => type3);
  }
  functionOverload("bool(bool): bool", identity2);
  functionOverload("bool(string): bool", (v) => {
    switch (v) {
      case "1":
      case "t":
      case "true":
      case "TRUE":
      case "True":
        return true;
      case "0":
      case "f":
      case "false":
      case "FALSE":
      case "False":
        return false;
      default:
        throw evaluationError(
          "bool_conversion_error",
          `bool() conversion error: invalid string value "${v}"`
        );
    }
  });
  functionOverload("size(string): int", (v) => BigInt(stringSize(v)));
  functionOverload("size(bytes): int", (v) => BigInt(v.length));
  functionOverload("size(list): int", (v) => BigInt(v.length ?? v.size));
  functionOverload("size(map): int", (v) => BigInt(v instanceof Map ? v.size : objKeys(v).length));
  functionOverload("string.size(): int", (v) => BigInt(stringSize(v)));
  functionOverload("bytes.size(): int", (v) => BigInt(v.length));
  functionOverload("list.size(): int", (v) => BigInt(v.length ?? v.size));
  functionOverload("map.size(): int", (v) => BigInt(v instanceof Map ? v.size : objKeys(v).length));
  functionOverload("bytes(string): bytes", (v) => ByteOpts.fromString(v));
  functionOverload("bytes(bytes): bytes", identity2);
  functionOverload("double(double): double", identity2);
  functionOverload("double(int): double", (v) => Number(v));
  functionOverload("double(uint): double", (v) => Number(v));
  functionOverload("double(string): double", (v) => {
    if (!v || v !== v.trim())
      throw evaluationError(
        "double_conversion_error",
        "double() type error: cannot convert to double"
      );
    const s = v.toLowerCase();
    switch (s) {
      case "inf":
      case "+inf":
      case "infinity":
      case "+infinity":
        return Number.POSITIVE_INFINITY;
      case "-inf":
      case "-infinity":
        return Number.NEGATIVE_INFINITY;
      case "nan":
        return Number.NaN;
      default: {
        const parsed2 = Number(v);
        if (!Number.isNaN(parsed2)) return parsed2;
        throw evaluationError(
          "double_conversion_error",
          "double() type error: cannot convert to double"
        );
      }
    }
  });
  functionOverload("int(int): int", identity2);
  functionOverload("int(double): int", (v) => {
    if (Number.isFinite(v)) return BigInt(Math.trunc(v));
    throw evaluationError("numeric_overflow", "int() type error: integer overflow");
  });
  functionOverload("int(string): int", (v) => {
    if (v !== v.trim() || v.length > 20 || v.includes("0x")) {
      throw evaluationError("int_conversion_error", "int() type error: cannot convert to int");
    }
    try {
      const num = BigInt(v);
      if (num <= MAX_INT && num >= MIN_INT) return num;
    } catch (_e) {
    }
    throw evaluationError("int_conversion_error", "int() type error: cannot convert to int");
  });
  functionOverload("uint(uint): uint", identity2);
  functionOverload("uint(int): uint", (v) => {
    try {
      return new UnsignedInt(v);
    } catch (e) {
      throw evaluationError("uint_conversion_error", "uint() type error: cannot convert to uint");
    }
  });
  functionOverload("uint(double): uint", (v) => {
    try {
      return new UnsignedInt(Math.trunc(v));
    } catch (e) {
      throw evaluationError("numeric_overflow", "uint() type error: unsigned integer overflow");
    }
  });
  functionOverload("uint(string): uint", (v) => {
    if (v !== v.trim() || v.length > 20 || v.includes("0x")) {
      throw evaluationError("uint_conversion_error", "uint() type error: cannot convert to uint");
    }
    try {
      return new UnsignedInt(v);
    } catch (e) {
      throw evaluationError("uint_conversion_error", "uint() type error: cannot convert to uint");
    }
  });
  functionOverload("string(string): string", identity2);
  functionOverload("string(bool): string", (v) => `${v}`);
  functionOverload("string(int): string", (v) => `${v}`);
  functionOverload("string(uint): string", (v) => `${v}`);
  functionOverload("string(bytes): string", (v) => ByteOpts.toUtf8(v));
  functionOverload("string(double): string", (v) => {
    if (v === Infinity) return "+Inf";
    if (v === -Infinity) return "-Inf";
    return `${v}`;
  });
  functionOverload("string.startsWith(string): bool", (a, b2) => a.startsWith(b2));
  functionOverload("string.endsWith(string): bool", (a, b2) => a.endsWith(b2));
  functionOverload("string.contains(string): bool", (a, b2) => a.includes(b2));
  functionOverload("string.lowerAscii(): string", (a) => a.toLowerCase());
  functionOverload("string.upperAscii(): string", (a) => a.toUpperCase());
  functionOverload("string.trim(): string", (a) => a.trim());
  functionOverload(
    "string.indexOf(string): int",
    (string, search) => BigInt(string.indexOf(search))
  );
  functionOverload("string.indexOf(string, int): int", (string, search, fromIndex) => {
    if (search === "") return fromIndex;
    fromIndex = Number(fromIndex);
    if (fromIndex < 0 || fromIndex >= string.length) {
      throw evaluationError(
        "index_out_of_range",
        "string.indexOf(search, fromIndex): fromIndex out of range"
      );
    }
    return BigInt(string.indexOf(search, fromIndex));
  });
  functionOverload(
    "string.lastIndexOf(string): int",
    (string, search) => BigInt(string.lastIndexOf(search))
  );
  functionOverload("string.lastIndexOf(string, int): int", (string, search, fromIndex) => {
    if (search === "") return fromIndex;
    fromIndex = Number(fromIndex);
    if (fromIndex < 0 || fromIndex >= string.length) {
      throw evaluationError(
        "index_out_of_range",
        "string.lastIndexOf(search, fromIndex): fromIndex out of range"
      );
    }
    return BigInt(string.lastIndexOf(search, fromIndex));
  });
  functionOverload("string.substring(int): string", (string, start) => {
    start = Number(start);
    if (start < 0 || start > string.length) {
      throw evaluationError(
        "index_out_of_range",
        "string.substring(start, end): start index out of range"
      );
    }
    return string.substring(start);
  });
  functionOverload("string.substring(int, int): string", (string, start, end) => {
    start = Number(start);
    if (start < 0 || start > string.length) {
      throw evaluationError(
        "index_out_of_range",
        "string.substring(start, end): start index out of range"
      );
    }
    end = Number(end);
    if (end < start || end > string.length) {
      throw evaluationError(
        "index_out_of_range",
        "string.substring(start, end): end index out of range"
      );
    }
    return string.substring(start, end);
  });
  functionOverload("string.matches(string): bool", (a, b2) => {
    try {
      return new RegExp(b2).test(a);
    } catch (_err) {
      throw evaluationError("invalid_regular_expression", `Invalid regular expression: ${b2}`);
    }
  });
  functionOverload("string.split(string): list<string>", (s, sep) => s.split(sep));
  functionOverload("string.split(string, int): list<string>", (s, sep, l) => {
    l = Number(l);
    if (l === 0) return [];
    const parts3 = s.split(sep);
    if (l < 0 || parts3.length <= l) return parts3;
    const limited = parts3.slice(0, l - 1);
    limited.push(parts3.slice(l - 1).join(sep));
    return limited;
  });
  functionOverload("list<string>.join(): string", (v) => {
    for (let i2 = 0; i2 < v.length; i2++) {
      if (typeof v[i2] !== "string") {
        throw evaluationError(
          "invalid_list_element_type",
          "string.join(): list must contain only strings"
        );
      }
    }
    return v.join("");
  });
  functionOverload("list<string>.join(string): string", (v, sep) => {
    for (let i2 = 0; i2 < v.length; i2++) {
      if (typeof v[i2] !== "string") {
        throw evaluationError(
          "invalid_list_element_type",
          "string.join(separator): list must contain only strings"
        );
      }
    }
    return v.join(sep);
  });
  const textEncoder = new TextEncoder("utf8");
  const textDecoder = new TextDecoder("utf8");
  const ByteOpts = typeof Buffer !== "undefined" ? {
    byteLength: (v) => Buffer.byteLength(v),
    fromString: (str) => Buffer.from(str, "utf8"),
    toHex: (b2) => Buffer.prototype.hexSlice.call(b2, 0, b2.length),
    toBase64: (b2) => Buffer.prototype.base64Slice.call(b2, 0, b2.length),
    toUtf8: (b2) => Buffer.prototype.utf8Slice.call(b2, 0, b2.length),
    jsonParse: (b2) => JSON.parse(b2)
  } : {
    textEncoder: new TextEncoder("utf8"),
    byteLength: (v) => textEncoder.encode(v).length,
    fromString: (str) => textEncoder.encode(str),
    toHex: Uint8Array.prototype.toHex ? (b2) => b2.toHex() : (b2) => arrayFrom(b2, (i2) => i2.toString(16).padStart(2, "0")).join(""),
    toBase64: Uint8Array.prototype.toBase64 ? (b2) => b2.toBase64() : (b2) => btoa(arrayFrom(b2, (i2) => String.fromCodePoint(i2)).join("")),
    toUtf8: (b2) => textDecoder.decode(b2),
    jsonParse: (b2) => JSON.parse(textEncoder.decode(b2))
  };
  functionOverload("bytes.json(): map", ByteOpts.jsonParse);
  functionOverload("bytes.hex(): string", ByteOpts.toHex);
  functionOverload("bytes.string(): string", ByteOpts.toUtf8);
  functionOverload("bytes.base64(): string", ByteOpts.toBase64);
  functionOverload("bytes.at(int): int", (b2, index2) => {
    if (index2 < 0 || index2 >= b2.length) {
      throw evaluationError("index_out_of_range", "Bytes index out of range");
    }
    return BigInt(b2[index2]);
  });
  const TS = "google.protobuf.Timestamp";
  const GPD = "google.protobuf.Duration";
  const TimestampType = registry.registerType(TS, Date).typeType;
  const DurationType = registry.registerType(GPD, Duration).typeType;
  registry.registerConstant("google", "map<string, map<string, type>>", {
    protobuf: { Duration: DurationType, Timestamp: TimestampType }
  });
  function tzDate(d2, timeZone) {
    return new Date(d2.toLocaleString("en-US", { timeZone }));
  }
  function getDayOfYear(d2, tz) {
    const workingDate = tz ? tzDate(d2, tz) : new Date(d2.getUTCFullYear(), d2.getUTCMonth(), d2.getUTCDate());
    const start = new Date(workingDate.getFullYear(), 0, 0);
    return BigInt(Math.floor((workingDate - start) / 864e5) - 1);
  }
  functionOverload(`timestamp(string): ${TS}`, (v) => {
    if (v.length < 20 || v.length > 30) {
      throw evaluationError("invalid_timestamp", "timestamp() requires a string in ISO 8601 format");
    }
    const d2 = new Date(v);
    if (d2 <= 253402300799999 && d2 >= -621355968e5) return d2;
    throw evaluationError("invalid_timestamp", "timestamp() requires a string in ISO 8601 format");
  });
  functionOverload(`timestamp(int): ${TS}`, (i2) => {
    i2 = Number(i2) * 1e3;
    if (i2 <= 253402300799999 && i2 >= -621355968e5) return new Date(i2);
    throw evaluationError(
      "invalid_timestamp",
      "timestamp() requires a valid integer unix timestamp"
    );
  });
  functionOverload(`${TS}.getDate(): int`, (d2) => BigInt(d2.getUTCDate()));
  functionOverload(`${TS}.getDate(string): int`, (d2, tz) => BigInt(tzDate(d2, tz).getDate()));
  functionOverload(`${TS}.getDayOfMonth(): int`, (d2) => BigInt(d2.getUTCDate() - 1));
  functionOverload(
    `${TS}.getDayOfMonth(string): int`,
    (d2, tz) => BigInt(tzDate(d2, tz).getDate() - 1)
  );
  functionOverload(`${TS}.getDayOfWeek(): int`, (d2) => BigInt(d2.getUTCDay()));
  functionOverload(`${TS}.getDayOfWeek(string): int`, (d2, tz) => BigInt(tzDate(d2, tz).getDay()));
  functionOverload(`${TS}.getDayOfYear(): int`, getDayOfYear);
  functionOverload(`${TS}.getDayOfYear(string): int`, getDayOfYear);
  functionOverload(`${TS}.getFullYear(): int`, (d2) => BigInt(d2.getUTCFullYear()));
  functionOverload(`${TS}.getFullYear(string): int`, (d2, tz) => BigInt(tzDate(d2, tz).getFullYear()));
  functionOverload(`${TS}.getHours(): int`, (d2) => BigInt(d2.getUTCHours()));
  functionOverload(`${TS}.getHours(string): int`, (d2, tz) => BigInt(tzDate(d2, tz).getHours()));
  functionOverload(`${TS}.getMilliseconds(): int`, (d2) => BigInt(d2.getUTCMilliseconds()));
  functionOverload(`${TS}.getMilliseconds(string): int`, (d2) => BigInt(d2.getUTCMilliseconds()));
  functionOverload(`${TS}.getMinutes(): int`, (d2) => BigInt(d2.getUTCMinutes()));
  functionOverload(`${TS}.getMinutes(string): int`, (d2, tz) => BigInt(tzDate(d2, tz).getMinutes()));
  functionOverload(`${TS}.getMonth(): int`, (d2) => BigInt(d2.getUTCMonth()));
  functionOverload(`${TS}.getMonth(string): int`, (d2, tz) => BigInt(tzDate(d2, tz).getMonth()));
  functionOverload(`${TS}.getSeconds(): int`, (d2) => BigInt(d2.getUTCSeconds()));
  functionOverload(`${TS}.getSeconds(string): int`, (d2, tz) => BigInt(tzDate(d2, tz).getSeconds()));
  const parseDurationPattern = /(\d*\.?\d*)(ns|us|µs|ms|s|m|h)/;
  function parseDuration(string) {
    if (!string) throw evaluationError("invalid_duration", `Invalid duration string: ''`);
    const isNegative = string[0] === "-";
    if (string[0] === "-" || string[0] === "+") string = string.slice(1);
    let nanoseconds = BigInt(0);
    while (true) {
      const match = parseDurationPattern.exec(string);
      if (!match) throw evaluationError("invalid_duration", `Invalid duration string: ${string}`);
      if (match.index !== 0)
        throw evaluationError("invalid_duration", `Invalid duration string: ${string}`);
      string = string.slice(match[0].length);
      const unitNanos = UNIT_NANOSECONDS[match[2]];
      const [intPart = "0", fracPart = ""] = match[1].split(".");
      const intVal = BigInt(intPart) * unitNanos;
      const fracNanos = fracPart ? BigInt(fracPart.slice(0, 13).padEnd(13, "0")) * unitNanos / 10000000000000n : 0n;
      nanoseconds += intVal + fracNanos;
      if (string === "") break;
    }
    const seconds = nanoseconds >= billionBigInt ? nanoseconds / billionBigInt : 0n;
    const nanos = Number(nanoseconds % billionBigInt);
    if (isNegative) return new Duration(-seconds, -nanos);
    return new Duration(seconds, nanos);
  }
  functionOverload(`duration(string): google.protobuf.Duration`, (s) => parseDuration(s));
  functionOverload(`google.protobuf.Duration.getHours(): int`, (d2) => d2.getHours());
  functionOverload(`google.protobuf.Duration.getMinutes(): int`, (d2) => d2.getMinutes());
  functionOverload(`google.protobuf.Duration.getSeconds(): int`, (d2) => d2.getSeconds());
  functionOverload(`google.protobuf.Duration.getMilliseconds(): int`, (d2) => d2.getMilliseconds());
  register(registry);
}
function stringSize(str) {
  let count3 = 0;
  for (const c2 of str) count3++;
  return count3;
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/registry.js
var Type = class {
  #name;
  constructor(name) {
    this.#name = name;
    objFreeze(this);
  }
  get name() {
    return this.#name;
  }
  get [Symbol.toStringTag]() {
    return `Type<${this.#name}>`;
  }
  toString() {
    return `Type<${this.#name}>`;
  }
};
var TYPES = {
  string: new Type("string"),
  bool: new Type("bool"),
  int: new Type("int"),
  uint: new Type("uint"),
  double: new Type("double"),
  map: new Type("map"),
  list: new Type("list"),
  bytes: new Type("bytes"),
  null_type: new Type("null"),
  type: new Type("type")
};
var optionalType = new Type("optional");
var valueTypeMatchers = {
  dyn(v, ev) {
    switch (typeof v) {
      case "string":
      case "bigint":
      case "number":
      case "boolean":
        return true;
      case "object":
        switch (v ? v.constructor : v) {
          case null:
          case void 0:
          case Object:
          case Map:
          case Array:
          case Set:
            return true;
          default:
            if (ev.objectTypesByConstructor.get(v.constructor)) return true;
        }
    }
    return !!ev.debugType(v);
  },
  string(v) {
    return typeof v === "string";
  },
  int(v) {
    return typeof v === "bigint";
  },
  double(v) {
    return typeof v === "number";
  },
  bool(v) {
    return typeof v === "boolean";
  },
  null(v) {
    return v === null;
  },
  bytes(v) {
    return v instanceof Uint8Array;
  },
  uint(v) {
    return v instanceof UnsignedInt;
  },
  type(v) {
    return v instanceof Type;
  },
  list(v) {
    switch (v?.constructor) {
      case Array:
      case Set:
        return true;
      default:
        return false;
    }
  },
  map(v) {
    switch (typeof v === "object" && v ? v.constructor : null) {
      case void 0:
      case Object:
      case Map:
        return true;
      default:
        return false;
    }
  },
  optional(v) {
    return v instanceof Optional;
  },
  message(v, ev) {
    return this === ev.debugType(v);
  }
};
valueTypeMatchers.param = valueTypeMatchers.dyn;
var TypeDeclaration = class {
  #matchesCache = /* @__PURE__ */ new WeakMap();
  constructor({ kind, type: type3, name, keyType, valueType }) {
    this.kind = kind;
    this.type = type3;
    this.name = name;
    this.keyType = keyType;
    this.valueType = valueType;
    this.unwrappedType = kind === "dyn" && valueType ? valueType.unwrappedType : this;
    this.wrappedType = kind === "dyn" ? this : _createDynType(this.unwrappedType);
    this.hasDynType = this.kind === "dyn" || this.valueType?.hasDynType || this.keyType?.hasDynType || false;
    this.hasPlaceholderType = this.kind === "param" || this.keyType?.hasPlaceholderType || this.valueType?.hasPlaceholderType || false;
    if (kind === "list") this.fieldLazy = this.#getListField;
    else if (kind === "map") this.fieldLazy = this.#getMapField;
    else if (kind === "message") this.fieldLazy = this.#getMessageField;
    else if (kind === "optional") this.fieldLazy = this.#getOptionalField;
    this.matchesValueType = valueTypeMatchers[name] || valueTypeMatchers[kind];
    objFreeze(this);
  }
  isDynOrBool() {
    return this.type === "bool" || this.kind === "dyn";
  }
  isEmpty() {
    return this.valueType && this.valueType.kind === "param";
  }
  unify(r, t2) {
    const t1 = this;
    if (t1 === t2 || t1.kind === "dyn" || t2.kind === "param") return t1;
    if (t2.kind === "dyn" || t1.kind === "param") return t2;
    if (t1.kind !== t2.kind) return null;
    if (!(t1.hasPlaceholderType || t2.hasPlaceholderType || t1.hasDynType || t2.hasDynType))
      return null;
    const valueType = t1.valueType.unify(r, t2.valueType);
    if (!valueType) return null;
    switch (t1.kind) {
      case "optional":
        return r.getOptionalType(valueType);
      case "list":
        return r.getListType(valueType);
      case "map":
        const keyType = t1.keyType.unify(r, t2.keyType);
        return keyType ? r.getMapType(keyType, valueType) : null;
    }
  }
  templated(r, bind) {
    if (!this.hasPlaceholderType) return this;
    switch (this.kind) {
      case "dyn":
        return this.valueType.templated(r, bind);
      case "param":
        return bind?.get(this.name) || this;
      case "map":
        return r.getMapType(this.keyType.templated(r, bind), this.valueType.templated(r, bind));
      case "list":
        return r.getListType(this.valueType.templated(r, bind));
      case "optional":
        return r.getOptionalType(this.valueType.templated(r, bind));
      default:
        return this;
    }
  }
  toString() {
    return this.name;
  }
  #getOptionalField(obj, key, ast, ev) {
    obj = obj instanceof Optional ? obj.orValue() : obj;
    if (obj === void 0) return OPTIONAL_NONE;
    const type3 = ev.debugType(obj);
    try {
      return Optional.of(type3.fieldLazy(obj, key, ast, ev));
    } catch (e) {
      if (e instanceof EvaluationError) return OPTIONAL_NONE;
      throw e;
    }
  }
  #getMessageField(obj, key, ast, ev) {
    const message = obj ? ev.objectTypesByConstructor.get(obj.constructor) : void 0;
    if (!message) return;
    const type3 = message.fields ? message.fields[key] : dynType;
    if (!type3) return void 0;
    const value = obj instanceof Map ? obj.get(key) : obj[key];
    if (value === void 0) return;
    if (type3.matchesValueType(value, ev)) return value;
    throw evaluationError(
      "field_type_mismatch",
      `Field '${key}' is not of type '${type3}', got '${ev.debugType(value)}'`,
      ast
    );
  }
  #getMapField(obj, key, ast, ev) {
    const value = obj instanceof Map ? obj.get(key) : obj && hasOwn(obj, key) ? obj[key] : void 0;
    if (value === void 0) return;
    if (this.valueType.matchesValueType(value, ev)) return value;
    throw evaluationError(
      "field_type_mismatch",
      `Field '${key}' is not of type '${this.valueType}', got '${ev.debugType(value)}'`,
      ast
    );
  }
  #getListElementAtIndex(list, pos) {
    switch (list?.constructor) {
      case Array:
        return list[pos];
      case Set: {
        let i2 = 0;
        for (const item of list) {
          if (i2++ !== pos) continue;
          return item;
        }
      }
    }
  }
  #getListField(obj, key, ast, ev) {
    if (typeof key === "bigint") key = Number(key);
    else if (typeof key !== "number") return;
    const value = this.#getListElementAtIndex(obj, key);
    if (value === void 0) {
      if (!obj) return;
      throw evaluationError(
        "index_out_of_bounds",
        `No such key: index out of bounds, index ${key} ${key < 0 ? "< 0" : `>= size ${obj.length || obj.size}`}`,
        ast
      );
    }
    if (this.valueType.matchesValueType(value, ev)) return value;
    throw evaluationError(
      "list_item_type_mismatch",
      `List item with index '${key}' is not of type '${this.valueType}', got '${ev.debugType(value)}'`,
      ast
    );
  }
  fieldLazy() {
  }
  field(obj, key, ast, ev) {
    const v = this.fieldLazy(obj, key, ast, ev);
    if (v !== void 0) return v;
    throw evaluationError("no_such_key", `No such key: ${key}`, ast);
  }
  matchesBoth(other) {
    return this.matches(other) && other.matches(this);
  }
  matches(o2) {
    const s = this.unwrappedType;
    o2 = o2.unwrappedType;
    if (s === o2 || s.kind === "dyn" || o2.kind === "dyn" || o2.kind === "param") return true;
    return this.#matchesCache.get(o2) ?? this.#matchesCache.set(o2, this.#matches(s, o2)).get(o2);
  }
  #matches(s, o2) {
    switch (s.kind) {
      case "dyn":
      case "param":
        return true;
      case "list":
        return o2.kind === "list" && s.valueType.matches(o2.valueType);
      case "map":
        return o2.kind === "map" && s.keyType.matches(o2.keyType) && s.valueType.matches(o2.valueType);
      case "optional":
        return o2.kind === "optional" && s.valueType.matches(o2.valueType);
      default:
        return s.name === o2.name;
    }
  }
};
var macroEvaluateErr = `have a .callAst property or .evaluate(checker, macro, ctx) method.`;
var macroTypeCheckErr = `have a .callAst property or .typeCheck(checker, macro, ctx) method.`;
function wrapMacroExpander(name, handler) {
  const p = `Macro '${name}' must`;
  return function macroExpander(opts) {
    const macro = handler(opts);
    if (!macro || typeof macro !== "object") throw new Error(`${p} return an object.`);
    if (macro.callAst) return macro;
    if (!macro.evaluate) throw new Error(`${p} ${macroEvaluateErr}`);
    if (!macro.typeCheck) throw new Error(`${p} ${macroTypeCheckErr}`);
    return macro;
  };
}
var VariableDeclaration = class {
  constructor(name, type3, description, value) {
    this.name = name;
    this.type = type3;
    this.description = description ?? null;
    this.constant = value !== void 0;
    this.value = value;
    objFreeze(this);
  }
};
var FunctionDeclaration = class {
  constructor({ name, receiverType, returnType, handler, description, params, async }) {
    if (typeof name !== "string") throw new Error("name must be a string");
    if (typeof handler !== "function") throw new Error("handler must be a function");
    this.name = name;
    this.async = isAsync(handler, async);
    this.receiverType = receiverType ?? null;
    this.returnType = returnType;
    this.description = description ?? null;
    this.params = params;
    this.argTypes = params.map((p) => p.type);
    this.macro = this.argTypes.includes(astType);
    const receiverString = receiverType ? `${receiverType}.` : "";
    this.signature = `${receiverString}${name}(${this.argTypes.join(", ")}): ${returnType}`;
    this.handler = this.macro ? wrapMacroExpander(this.signature, handler) : handler;
    this.partitionKey = `${receiverType ? "rcall" : "call"}:${name}:${params.length}`;
    this.hasPlaceholderType = this.returnType.hasPlaceholderType || this.receiverType?.hasPlaceholderType || this.argTypes.some((t2) => t2.hasPlaceholderType) || false;
    objFreeze(this);
  }
  matchesArgs(argTypes) {
    return argTypes.length === this.argTypes.length && this.argTypes.every((t2, i2) => t2.matches(argTypes[i2])) ? this : null;
  }
};
var OperatorDeclaration = class {
  constructor({ op, leftType, rightType, handler, returnType, async }) {
    this.operator = op;
    this.leftType = leftType;
    this.rightType = rightType || null;
    this.handler = handler;
    this.async = isAsync(handler, async);
    this.returnType = returnType;
    if (rightType) this.signature = `${leftType} ${op} ${rightType}: ${returnType}`;
    else this.signature = `${op}${leftType}: ${returnType}`;
    this.hasPlaceholderType = this.leftType.hasPlaceholderType || this.rightType?.hasPlaceholderType || false;
    objFreeze(this);
  }
  equals(other) {
    return this.operator === other.operator && this.leftType === other.leftType && this.rightType === other.rightType;
  }
};
function _createListType(valueType) {
  return new TypeDeclaration({
    kind: "list",
    name: `list<${valueType}>`,
    type: "list",
    valueType
  });
}
function _createPrimitiveType(name) {
  return new TypeDeclaration({ kind: "primitive", name, type: name });
}
function _createMessageType(name) {
  return new TypeDeclaration({ kind: "message", name, type: name });
}
function _createDynType(valueType) {
  const name = valueType ? `dyn<${valueType}>` : "dyn";
  return new TypeDeclaration({ kind: "dyn", name, type: name, valueType });
}
function _createOptionalType(valueType) {
  const name = `optional<${valueType}>`;
  return new TypeDeclaration({ kind: "optional", name, type: "optional", valueType });
}
function _createMapType(keyType, valueType) {
  return new TypeDeclaration({
    kind: "map",
    name: `map<${keyType}, ${valueType}>`,
    type: "map",
    keyType,
    valueType
  });
}
function _createPlaceholderType(name) {
  return new TypeDeclaration({ kind: "param", name, type: name });
}
var dynType = _createDynType();
var astType = _createPrimitiveType("ast");
var listType = _createListType(dynType);
var mapType = _createMapType(dynType, dynType);
var celTypes = {
  string: _createPrimitiveType("string"),
  bool: _createPrimitiveType("bool"),
  int: _createPrimitiveType("int"),
  uint: _createPrimitiveType("uint"),
  double: _createPrimitiveType("double"),
  bytes: _createPrimitiveType("bytes"),
  dyn: dynType,
  null: _createPrimitiveType("null"),
  type: _createPrimitiveType("type"),
  optional: _createOptionalType(dynType),
  list: listType,
  "list<dyn>": listType,
  map: mapType,
  "map<dyn, dyn>": mapType
};
for (const t2 of [celTypes.string, celTypes.double, celTypes.int]) {
  const list = _createListType(t2);
  const map = _createMapType(celTypes.string, t2);
  celTypes[list.name] = list;
  celTypes[map.name] = map;
}
Object.freeze(celTypes);
var Candidates = class {
  returnType = null;
  async = false;
  macro = false;
  #matchCache = null;
  #checkCache = null;
  /** @type {Array<FunctionDeclaration>|Array<OperatorDeclaration>} */
  declarations = [];
  constructor(registry) {
    this.registry = registry;
  }
  [Symbol.iterator]() {
    return this.declarations[Symbol.iterator]();
  }
  add(decl) {
    this.returnType = (this.returnType || decl.returnType).unify(this.registry, decl.returnType) || dynType;
    if (decl.macro) this.macro = decl;
    if (decl.async && !this.async) this.async = true;
    this.declarations.push(decl);
    this.#matchCache?.clear();
    this.#checkCache?.clear();
  }
  findFunction(argTypes, receiverType = null) {
    for (let i2 = 0; i2 < this.declarations.length; i2++) {
      const match = this.#matchesFunction(this.declarations[i2], argTypes, receiverType);
      if (match) return match;
    }
    return null;
  }
  findUnaryOverload(left) {
    const cached = (this.#matchCache ??= /* @__PURE__ */ new Map()).get(left);
    if (cached !== void 0) return cached;
    let value = false;
    for (const decl of this.declarations) {
      if (decl.leftType !== left) continue;
      value = decl;
      break;
    }
    this.#matchCache.set(left, value);
    return value;
  }
  findBinaryOverload(left, right) {
    if (left.kind === "dyn" && left.valueType) right = right.wrappedType;
    else if (right.kind === "dyn" && right.valueType) left = left.wrappedType;
    return (this.#matchCache ??= /* @__PURE__ */ new Map()).get(left)?.get(right) ?? this.#cacheBinary(this.#matchCache, left, right, this.#findBinaryUncached(left, right));
  }
  checkBinaryOverload(left, right) {
    return (this.#checkCache ??= /* @__PURE__ */ new Map()).get(left)?.get(right) ?? this.#cacheBinary(this.#checkCache, left, right, this.#checkBinaryUncached(left, right));
  }
  #cacheBinary(c2, l, r, v) {
    return (c2.get(l) || c2.set(l, /* @__PURE__ */ new Map()).get(l)).set(r, v), v;
  }
  #findBinaryUncached(left, right) {
    const ops = this.#findBinaryOverloads(left, right);
    if (ops.length === 0) return false;
    if (ops.length === 1) return ops[0];
    throw new Error(`Operator overload '${ops[0].signature}' overlaps with '${ops[1].signature}'.`);
  }
  #checkBinaryUncached(left, right) {
    const ops = this.#findBinaryOverloads(left, right);
    if (ops.length === 0) return false;
    let rt = ops[0].returnType;
    for (let i2 = 1; i2 < ops.length; i2++) rt = rt.unify(this.registry, ops[i2].returnType) || dynType;
    return rt;
  }
  #findBinaryOverloads(leftType, rightType) {
    const nonexactMatches = [];
    for (const decl of this.declarations) {
      if (decl.leftType === leftType && decl.rightType === rightType) return [decl];
      const secondary = this.#matchBinaryOverload(decl, leftType, rightType);
      if (secondary) nonexactMatches.push(secondary);
    }
    if (nonexactMatches.length === 0) {
      const op = this.declarations[0]?.operator;
      if ((op === "==" || op === "!=") && leftType.kind === "dyn") {
        return fallbackDynEqualityMatchers[op];
      }
    }
    return nonexactMatches;
  }
  #matchBinaryOverload(decl, actualLeft, actualRight) {
    const bindings = decl.hasPlaceholderType ? /* @__PURE__ */ new Map() : null;
    const leftType = this.#matchTypeWithPlaceholders(decl.leftType, actualLeft, bindings);
    if (!leftType) return;
    const rightType = this.#matchTypeWithPlaceholders(decl.rightType, actualRight, bindings);
    if (!rightType) return;
    if ((decl.operator === "==" || decl.operator === "!=") && decl.leftType.kind === "dyn" && decl.leftType.valueType && actualLeft.kind !== "dyn" && actualRight.kind !== "dyn")
      return false;
    return decl.hasPlaceholderType ? {
      async: decl.async,
      signature: decl.signature,
      handler: decl.handler,
      leftType,
      rightType,
      returnType: decl.returnType.templated(this.registry, bindings)
    } : decl;
  }
  #matchesFunction(fn, argTypes, receiverType) {
    if (fn.hasPlaceholderType) return this.#matchWithPlaceholders(fn, argTypes, receiverType);
    if (receiverType && fn.receiverType && !receiverType.matches(fn.receiverType)) return;
    return fn.matchesArgs(argTypes);
  }
  #matchWithPlaceholders(fn, argTypes, receiverType) {
    const bindings = /* @__PURE__ */ new Map();
    if (receiverType && fn.receiverType) {
      if (!this.#matchTypeWithPlaceholders(fn.receiverType, receiverType, bindings)) {
        return null;
      }
    }
    for (let i2 = 0; i2 < argTypes.length; i2++) {
      if (!this.#matchTypeWithPlaceholders(fn.argTypes[i2], argTypes[i2], bindings)) {
        return null;
      }
    }
    return {
      async: fn.async,
      handler: fn.handler,
      signature: fn.signature,
      returnType: fn.returnType.templated(this.registry, bindings)
    };
  }
  #matchTypeWithPlaceholders(declared, actual, bindings) {
    if (!declared.hasPlaceholderType) return actual.matches(declared) ? actual : null;
    const treatAsDyn = actual.kind === "dyn";
    if (!this.#collectPlaceholderBindings(declared, actual, bindings, treatAsDyn)) return null;
    if (treatAsDyn) return actual;
    return actual.matches(declared.templated(this.registry, bindings)) ? actual : null;
  }
  #collectPlaceholderBindings(dec, act, bind, fromDyn = false) {
    if (!dec.hasPlaceholderType) return true;
    if (!act) return false;
    const asDyn = fromDyn || act.kind === "dyn";
    act = act.unwrappedType;
    switch (dec.kind) {
      case "param": {
        const type3 = asDyn ? dynType : act;
        const existing = bind.get(dec.name);
        if (!existing) return bind.set(dec.name, type3) && true;
        return existing.kind === "dyn" || type3.kind === "dyn" ? true : existing.matchesBoth(type3);
      }
      case "list": {
        if (act.name === "dyn") act = dec;
        if (act.kind !== "list") return false;
        return this.#collectPlaceholderBindings(dec.valueType, act.valueType, bind, asDyn);
      }
      case "map": {
        if (act.name === "dyn") act = dec;
        if (act.kind !== "map") return false;
        return this.#collectPlaceholderBindings(dec.keyType, act.keyType, bind, asDyn) && this.#collectPlaceholderBindings(dec.valueType, act.valueType, bind, asDyn);
      }
      case "optional": {
        if (act.name === "dyn") act = dec;
        if (act.kind !== "optional") return false;
        return this.#collectPlaceholderBindings(dec.valueType, act.valueType, bind, asDyn);
      }
    }
    return true;
  }
};
function splitByComma(str) {
  const parts3 = [];
  let current = "";
  let depth = 0;
  for (const char of str) {
    if (char === "<") depth++;
    else if (char === ">") depth--;
    else if (char === "," && depth === 0) {
      parts3.push(current.trim());
      current = "";
      continue;
    }
    current += char;
  }
  if (current) parts3.push(current.trim());
  return parts3;
}
var objTypesDecls = [
  [UnsignedInt, "uint", TYPES.uint, celTypes.uint],
  [Type, "type", TYPES.type, celTypes.type],
  [Optional, "optional", optionalType, celTypes.optional],
  [Uint8Array, "bytes", TYPES.bytes, celTypes.bytes],
  ...typeof Buffer !== "undefined" ? [[Buffer, "bytes", TYPES.bytes, celTypes.bytes]] : []
].map(([ctor, name, typeType, type3]) => Object.freeze({ name, typeType, type: type3, ctor }));
var objTypes = objTypesDecls.map((t2) => [t2.name, t2]);
var objTypesCtor = objTypesDecls.map((t2) => [t2.ctor, t2]);
var invalidVar = (postfix) => new Error(`Invalid variable declaration: ${postfix}`);
var invalidType = (postfix) => new Error(`Invalid type declaration: ${postfix}`);
var fallbackDynEqualityMatchers = {
  "==": [{ handler: (a, b2) => a === b2, returnType: celTypes.bool }],
  "!=": [{ handler: (a, b2) => a !== b2, returnType: celTypes.bool }]
};
var Registry = class _Registry {
  #parent = null;
  #typeDeclarations;
  #ownsVariables = true;
  #operators = null;
  #functions = null;
  #operatorsByOp = null;
  #functionsByKey = null;
  #listTypes = null;
  #mapTypes = null;
  #optionalTypes = null;
  #others = null;
  #locked = false;
  constructor(opts = {}) {
    this.enableOptionalTypes = opts.enableOptionalTypes ?? false;
    this.unlistedVariablesAreDyn = opts.unlistedVariablesAreDyn ?? false;
    const parent = opts.parent instanceof _Registry ? opts.parent : null;
    if (parent) {
      this.#parent = parent;
      let opParent = parent;
      while (opParent && !opParent.#operators) opParent = opParent.#parent;
      let fnParent = parent;
      while (fnParent && !fnParent.#functions) fnParent = fnParent.#parent;
      this.#operatorsByOp = parent.#operatorsByOp;
      this.#functionsByKey = parent.#functionsByKey;
      this.#others = { operators: opParent.#operators, functions: fnParent.#functions };
      this.objectTypes = new Map(parent.objectTypes);
      this.objectTypesByConstructor = new Map(parent.objectTypesByConstructor);
      this.variables = parent.variables;
      this.#ownsVariables = false;
      this.#typeDeclarations = parent.#typeDeclarations;
      this.#listTypes = parent.#listTypes;
      this.#mapTypes = parent.#mapTypes;
      this.#optionalTypes = parent.#optionalTypes;
      if (this.enableOptionalTypes !== parent.enableOptionalTypes || this.unlistedVariablesAreDyn !== parent.unlistedVariablesAreDyn) {
        toggleOptionalTypes(this, this.enableOptionalTypes);
      }
    } else {
      this.#operators = [];
      this.#functions = [];
      this.objectTypes = new Map(objTypes);
      this.objectTypesByConstructor = new Map(objTypesCtor);
      this.#typeDeclarations = new Map(objEntries(celTypes));
      this.#listTypes = /* @__PURE__ */ new Map();
      this.#mapTypes = /* @__PURE__ */ new Map();
      this.#optionalTypes = /* @__PURE__ */ new Map();
      this.variables = /* @__PURE__ */ new Map();
      this.variables.dyn = this.unlistedVariablesAreDyn;
      for (const n in TYPES) this.registerConstant(n, "type", TYPES[n]);
    }
  }
  #ensureOwnVariables() {
    if (this.#ownsVariables) return;
    this.variables = new Map(this.variables);
    this.variables.dyn = this.unlistedVariablesAreDyn;
    this.#ownsVariables = true;
  }
  // Used by toggleOptionalTypes in optional.js to clear a variable before re-registering it
  deleteVariable(name) {
    this.#ensureOwnVariables();
    this.variables.delete(name);
  }
  #pushOperator(decl) {
    if (!this.#operators) this.#operatorsByOp = null;
    this.operatorCandidates(decl.operator).add(decl);
    this.#operators.push(decl);
  }
  #pushFunction(decl) {
    if (!this.#functions) this.#functionsByKey = null;
    this.#functionCandidates(decl.partitionKey).add(decl);
    this.#functions.push(decl);
  }
  #ensureCandiate(c2, key) {
    return c2.get(key) || c2.set(key, new Candidates(this)).get(key);
  }
  #getOperators() {
    if (this.#operators) return this.#operators;
    return this.#operators = [...this.#others.operators];
  }
  #getFunctions() {
    if (this.#functions) return this.#functions;
    return this.#functions = [...this.#others.functions];
  }
  operatorCandidates(op) {
    if (this.#operatorsByOp) return this.#ensureCandiate(this.#operatorsByOp, op);
    const c2 = this.#operatorsByOp = /* @__PURE__ */ new Map();
    for (const decl of this.#getOperators()) this.#ensureCandiate(c2, decl.operator).add(decl);
    return this.#ensureCandiate(c2, op);
  }
  functionCandidates(rec, name, argLen) {
    return this.#functionCandidates(`${rec ? "rcall" : "call"}:${name}:${argLen}`);
  }
  #functionCandidates(key) {
    if (this.#functionsByKey) return this.#ensureCandiate(this.#functionsByKey, key);
    const c2 = this.#functionsByKey = /* @__PURE__ */ new Map();
    for (const decl of this.#getFunctions()) this.#ensureCandiate(c2, decl.partitionKey).add(decl);
    return this.#ensureCandiate(c2, key);
  }
  registerVariable(name, type3, opts) {
    if (this.#locked) throw new Error("Cannot modify frozen registry");
    let description = opts?.description;
    let value;
    if (typeof name === "string" && typeof type3 === "object" && !(type3 instanceof TypeDeclaration)) {
      description = type3.description;
      value = type3.value;
      if (type3.schema) type3 = this.registerType({ name: `$${name}`, schema: type3.schema }).type;
      else type3 = type3.type;
    } else if (typeof name === "object") {
      if (name.schema) type3 = this.registerType({ name: `$${name.name}`, schema: name.schema }).type;
      else type3 = name.type;
      description = name.description;
      value = name.value;
      name = name.name;
    }
    if (typeof name !== "string" || !name) throw invalidVar(`name must be a string`);
    if (RESERVED.has(name)) throw invalidVar(`'${name}' is a reserved name`);
    if (this.variables.get(name) !== void 0) throw invalidVar(`'${name}' is already registered`);
    if (typeof type3 === "string") type3 = this.getType(type3);
    else if (!(type3 instanceof TypeDeclaration)) throw invalidVar(`type is required`);
    this.#ensureOwnVariables();
    this.variables.set(name, new VariableDeclaration(name, type3, description, value));
    return this;
  }
  #registerSchemaAsType(name, schema) {
    const fields2 = /* @__PURE__ */ Object.create(null);
    for (const key of objKeys(schema)) {
      const def = schema[key];
      if (typeof def === "object" && def) {
        fields2[key] = this.registerType({ name: `${name}.${key}`, schema: def }).type.name;
      } else if (typeof def === "string") {
        fields2[key] = def;
      } else {
        throw new Error(`Invalid field definition for '${name}.${key}'`);
      }
    }
    return fields2;
  }
  registerConstant(name, type3, value) {
    if (typeof name === "object") this.registerVariable(name);
    else this.registerVariable({ name, type: type3, value });
    return this;
  }
  getType(typename) {
    return this.#parseTypeString(typename, true);
  }
  getListType(type3) {
    return this.#listTypes.get(type3) || this.#listTypes.set(type3, this.#parseTypeString(`list<${type3}>`, true)).get(type3);
  }
  getMapType(a, b2) {
    return this.#mapTypes.get(a)?.get(b2) || (this.#mapTypes.get(a) || this.#mapTypes.set(a, /* @__PURE__ */ new Map()).get(a)).set(b2, this.#parseTypeString(`map<${a}, ${b2}>`, true)).get(b2);
  }
  getOptionalType(type3) {
    return this.#optionalTypes.get(type3) || this.#optionalTypes.set(type3, this.#parseTypeString(`optional<${type3}>`, true)).get(type3);
  }
  assertType(typename, type3, signature) {
    try {
      return this.#parseTypeString(typename, true);
    } catch (e) {
      e.message = `Invalid ${type3} '${e.unknownType || typename}' in '${signature}'`;
      throw e;
    }
  }
  getFunctionType(typename) {
    if (typename === "ast") return astType;
    const t2 = this.#parseTypeString(typename, true);
    if (t2.kind === "dyn" && t2.valueType) throw new Error(`type '${t2.name}' is not supported`);
    return t2;
  }
  registerType(name, _d) {
    if (this.#locked) throw new Error("Cannot modify frozen registry");
    if (typeof name === "object") _d = name, name = _d.fullName || _d.name || _d.ctor?.name;
    if (typeof name === "string" && name[0] === ".") name = name.slice(1);
    if (typeof name !== "string" || name.length < 2 || RESERVED.has(name)) {
      throw invalidType(`name '${name}' is not valid`);
    }
    if (this.objectTypes.has(name)) throw invalidType(`type '${name}' already registered`);
    const type3 = this.#parseTypeString(name, false);
    if (type3.kind !== "message") throw invalidType(`type '${name}' is not valid`);
    const decl = {
      name,
      typeType: new Type(name),
      type: type3,
      ctor: typeof _d === "function" ? _d : _d?.ctor,
      convert: typeof _d === "function" ? void 0 : _d?.convert,
      fields: typeof _d?.schema === "object" ? this.#normalizeFields(name, this.#registerSchemaAsType(name, _d.schema)) : this.#normalizeFields(name, typeof _d === "function" ? void 0 : _d?.fields)
    };
    if (typeof decl.ctor !== "function") {
      if (!decl.fields) throw invalidType(`type '${name}' requires a constructor or fields`);
      Object.assign(decl, this.#createDefaultConvert(name, decl.fields));
    }
    this.objectTypes.set(name, Object.freeze(decl));
    this.objectTypesByConstructor.set(decl.ctor, decl);
    this.registerFunctionOverload(`type(${name}): type`, () => decl.typeType, { async: false });
    return decl;
  }
  /** @returns {TypeDeclaration} */
  #parseTypeString(typeStr, requireKnownTypes = true) {
    let match = this.#typeDeclarations.get(typeStr);
    if (match) return match;
    if (typeof typeStr !== "string" || !typeStr.length) {
      throw new Error(`Invalid type: must be a string`);
    }
    match = typeStr.match(/^[A-Z]$/);
    if (match) return this.#createDeclaration(_createPlaceholderType, typeStr, typeStr);
    match = typeStr.match(/^(dyn|list|map|optional)<(.+)>$/);
    if (!match) {
      if (requireKnownTypes) {
        const err = new Error(`Unknown type: ${typeStr}`);
        err.unknownType = typeStr;
        throw err;
      }
      return this.#createDeclaration(_createMessageType, typeStr, typeStr);
    }
    const kind = match[1];
    const inner = match[2].trim();
    switch (kind) {
      case "dyn": {
        const type3 = this.#parseTypeString(inner, requireKnownTypes).wrappedType;
        this.#typeDeclarations.set(type3.name, type3);
        return type3;
      }
      case "list": {
        const vType = this.#parseTypeString(inner, requireKnownTypes);
        return this.#createDeclaration(_createListType, `list<${vType}>`, vType);
      }
      case "map": {
        const parts3 = splitByComma(inner);
        if (parts3.length !== 2) throw new Error(`Invalid map type: ${typeStr}`);
        const kType = this.#parseTypeString(parts3[0], requireKnownTypes);
        const vType = this.#parseTypeString(parts3[1], requireKnownTypes);
        return this.#createDeclaration(_createMapType, `map<${kType}, ${vType}>`, kType, vType);
      }
      case "optional": {
        const vType = this.#parseTypeString(inner, requireKnownTypes);
        return this.#createDeclaration(_createOptionalType, `optional<${vType}>`, vType);
      }
    }
  }
  #createDeclaration(creator, key, ...args) {
    return this.#typeDeclarations.get(key) || this.#typeDeclarations.set(key, creator(...args)).get(key);
  }
  findMacro(name, hasReceiver, argLen) {
    return this.functionCandidates(hasReceiver, name, argLen).macro;
  }
  findUnaryOverload(op, left) {
    return this.operatorCandidates(op).findUnaryOverload(left);
  }
  findBinaryOverload(op, left, right) {
    return this.operatorCandidates(op).findBinaryOverload(left, right);
  }
  #toCelFieldType(field) {
    if (typeof field === "string") return { type: field };
    if (field.id) return protobufjsFieldToCelType(field);
    return field;
  }
  #toCelFieldDeclaration(typename, fields2, k, requireKnownTypes = false) {
    try {
      const field = this.#toCelFieldType(fields2[k]);
      if (typeof field?.type !== "string") throw new Error(`unsupported declaration`);
      return this.#parseTypeString(field.type, requireKnownTypes);
    } catch (e) {
      e.message = `Field '${k}' in type '${typename}' has unsupported declaration: ${JSON.stringify(fields2[k])}`;
      throw e;
    }
  }
  #normalizeFields(typename, fields2) {
    if (!fields2) return;
    const all2 = /* @__PURE__ */ Object.create(null);
    for (const k of objKeys(fields2)) all2[k] = this.#toCelFieldDeclaration(typename, fields2, k);
    return all2;
  }
  #createDefaultConvert(name, fields2) {
    const keys2 = objKeys(fields2);
    const conversions = /* @__PURE__ */ Object.create(null);
    for (const k of keys2) {
      const type3 = fields2[k];
      const decl = type3.kind === "message" && this.objectTypes.get(type3.name);
      if (decl === false) conversions[k] = false;
      else conversions[k] = decl.convert ? decl : false;
    }
    const Ctor = {
      [name]: class extends Map {
        #raw;
        constructor(v) {
          super();
          this.#raw = v;
        }
        [Symbol.iterator]() {
          if (this.size !== keys2.length) for (const k of keys2) this.get(k);
          return super[Symbol.iterator]();
        }
        get(field) {
          let v = super.get(field);
          if (v !== void 0 || this.has(field)) return v;
          const dec = conversions[field];
          if (dec === void 0) return;
          v = this.#raw instanceof Map ? this.#raw.get(field) : this.#raw?.[field];
          if (dec && v && typeof v === "object") {
            switch (v.constructor) {
              case void 0:
              case Object:
              case Map:
                v = dec.convert(v);
            }
          }
          return super.set(field, v), v;
        }
      }
    }[name];
    return {
      ctor: Ctor,
      convert(v) {
        if (!v) return;
        if (v.constructor === Ctor) return v;
        return new Ctor(v);
      }
    };
  }
  clone(opts) {
    this.#locked = true;
    return new _Registry({
      parent: this,
      unlistedVariablesAreDyn: opts.unlistedVariablesAreDyn,
      enableOptionalTypes: opts.enableOptionalTypes
    });
  }
  getDefinitions() {
    const variables = [];
    const functions = [];
    for (const [, varDecl] of this.variables) {
      if (!varDecl) continue;
      variables.push({
        name: varDecl.name,
        description: varDecl.description || null,
        type: varDecl.type.name
      });
    }
    for (const decl of this.#getFunctions()) {
      functions.push({
        signature: decl.signature,
        name: decl.name,
        description: decl.description,
        receiverType: decl.receiverType ? decl.receiverType.name : null,
        returnType: decl.returnType.name,
        params: decl.params.map((p) => ({
          name: p.name,
          type: p.type.name,
          description: p.description
        }))
      });
    }
    return { variables, functions };
  }
  #parseSignature(signature) {
    if (typeof signature !== "string") throw new Error("Invalid signature: must be a string");
    const match = signature.match(/^(?:([a-zA-Z0-9.<>]+)\.)?(\w+)\(([^)]*)\):(.*)$/);
    if (!match) throw new Error(`Invalid signature: ${signature}`);
    const returnType = match[4].trim();
    if (!returnType) throw new Error(`Invalid signature: ${signature}`);
    return {
      receiverType: match[1] || null,
      name: match[2],
      argTypes: splitByComma(match[3]),
      returnType
    };
  }
  /**
   * @param {FunctionDeclaration} a
   * @param {FunctionDeclaration} b
   */
  #functionSignatureOverlaps(a, b2) {
    if (a.name !== b2.name) return false;
    if (a.argTypes.length !== b2.argTypes.length) return false;
    if ((a.receiverType || b2.receiverType) && (!a.receiverType || !b2.receiverType)) return false;
    const isDifferentReceiver = a.receiverType !== b2.receiverType && a.receiverType !== dynType && b2.receiverType !== dynType;
    return !isDifferentReceiver && (b2.macro || a.macro || b2.argTypes.every((t2, i2) => {
      const o2 = a.argTypes[i2];
      return t2 === o2 || t2 === dynType || o2 === dynType;
    }));
  }
  /** @param {FunctionDeclaration} newDec */
  #checkOverlappingSignatures(newDec) {
    for (const decl of this.#functionCandidates(newDec.partitionKey)) {
      if (!this.#functionSignatureOverlaps(decl, newDec)) continue;
      throw new Error(
        `Function signature '${newDec.signature}' overlaps with existing overload '${decl.signature}'.`
      );
    }
  }
  #normalizeParam(i2, aType, param) {
    if (!param) return { type: this.getFunctionType(aType), name: `arg${i2}`, description: null };
    const type3 = param.type || aType;
    if (!type3) throw new Error(`params[${i2}].type is required`);
    if (aType && type3 !== aType) throw new Error(`params[${i2}].type not equal to signature type`);
    return {
      name: param.name || `arg${i2}`,
      type: this.getFunctionType(type3),
      description: param.description ?? null
    };
  }
  registerFunctionOverload(s, handler, opts) {
    if (this.#locked) throw new Error("Cannot modify frozen registry");
    if (typeof s === "object") opts = s;
    else if (typeof handler === "object") opts = handler;
    else if (!opts) opts = {};
    const sig = typeof s === "string" ? s : opts.signature ?? void 0;
    const parsed2 = sig !== void 0 ? this.#parseSignature(sig) : void 0;
    const name = parsed2?.name || opts.name;
    const receiverType = parsed2?.receiverType || opts.receiverType;
    const argTypes = parsed2?.argTypes;
    const returnType = parsed2?.returnType || opts.returnType;
    const params = opts.params;
    handler = typeof handler === "function" ? handler : opts.handler;
    let dec;
    try {
      if (!name) throw new Error(`signature or name are required`);
      if (!returnType) throw new Error(`must have a returnType`);
      if (params) {
        if (argTypes && params.length !== argTypes.length) {
          throw new Error(`mismatched length in params and args in signature`);
        }
      } else if (!argTypes) throw new Error(`signature or params are required`);
      dec = new FunctionDeclaration({
        name,
        async: opts?.async,
        receiverType: receiverType ? this.getType(receiverType) : null,
        returnType: this.getType(returnType),
        handler,
        description: opts.description,
        params: (argTypes || params).map(
          (_, i2) => this.#normalizeParam(i2, argTypes?.[i2], params?.[i2])
        )
      });
    } catch (e) {
      if (typeof sig === "string") e.message = `Invalid function declaration '${sig}': ${e.message}`;
      else if (name) e.message = `Invalid function declaration '${name}': ${e.message}`;
      else e.message = `Invalid function declaration: ${e.message}`;
      throw e;
    }
    this.#checkOverlappingSignatures(dec);
    this.#pushFunction(dec);
  }
  registerOperatorOverload(string, handler, opts) {
    const unaryParts = string.match(/^([-!])([\w.<>]+)(?::\s*([\w.<>]+))?$/);
    if (unaryParts) {
      const [, op2, operandType, returnType2] = unaryParts;
      return this.unaryOverload(op2, operandType, handler, returnType2, opts?.async);
    }
    const parts3 = string.match(
      /^([\w.<>]+) ([-+*%/]|==|!=|<|<=|>|>=|in) ([\w.<>]+)(?::\s*([\w.<>]+))?$/
    );
    if (!parts3) throw new Error(`Operator overload invalid: ${string}`);
    const [, leftType, op, rightType, returnType] = parts3;
    return this.binaryOverload(leftType, op, rightType, handler, returnType);
  }
  unaryOverload(op, typeStr, handler, returnTypeStr, async) {
    if (this.#locked) throw new Error("Cannot modify frozen registry");
    const leftType = this.assertType(typeStr, "type", `${op}${typeStr}`);
    const returnType = this.assertType(
      returnTypeStr || typeStr,
      "return type",
      `${op}${typeStr}: ${returnTypeStr || typeStr}`
    );
    const d2 = new OperatorDeclaration({ op: `${op}_`, leftType, returnType, handler, async });
    this.#pushOperator(this.#assertOverload(d2));
  }
  #hasOverload(d2) {
    for (const o2 of this.operatorCandidates(d2.operator)) if (d2.equals(o2)) return true;
    return false;
  }
  #assertOverload(decl) {
    if (!this.#hasOverload(decl)) return decl;
    throw new Error(`Operator overload already registered: ${decl.signature}`);
  }
  binaryOverload(leftTypeStr, op, rightTypeStr, handler, returnTypeStr, async) {
    if (this.#locked) throw new Error("Cannot modify frozen registry");
    returnTypeStr ??= isRelational.has(op) ? "bool" : leftTypeStr;
    const sig = `${leftTypeStr} ${op} ${rightTypeStr}: ${returnTypeStr}`;
    let leftType = this.assertType(leftTypeStr, "left type", sig);
    let rightType = this.assertType(rightTypeStr, "right type", sig);
    const returnType = this.assertType(returnTypeStr, "return type", sig);
    if (leftType.kind === "dyn" && leftType.valueType) rightType = rightType.wrappedType;
    else if (rightType.kind === "dyn" && rightType.valueType) leftType = leftType.wrappedType;
    if (isRelational.has(op) && returnType.type !== "bool") {
      throw new Error(`Comparison operator '${op}' must return 'bool', got '${returnType.type}'`);
    }
    const dec = new OperatorDeclaration({ op, leftType, rightType, returnType, handler, async });
    if (dec.hasPlaceholderType && !(rightType.hasPlaceholderType && leftType.hasPlaceholderType)) {
      throw new Error(
        `Operator overload with placeholders must use them in both left and right types: ${sig}`
      );
    }
    this.#assertOverload(dec);
    if (op === "==") {
      const declarations = [
        new OperatorDeclaration({
          op: "!=",
          leftType,
          rightType,
          handler(a, b2, ast, ev) {
            return !handler(a, b2, ast, ev);
          },
          returnType,
          async
        })
      ];
      if (leftType !== rightType) {
        declarations.push(
          new OperatorDeclaration({
            op: "==",
            leftType: rightType,
            rightType: leftType,
            handler(a, b2, ast, ev) {
              return handler(b2, a, ast, ev);
            },
            returnType,
            async
          }),
          new OperatorDeclaration({
            op: "!=",
            leftType: rightType,
            rightType: leftType,
            handler(a, b2, ast, ev) {
              return !handler(b2, a, ast, ev);
            },
            returnType,
            async
          })
        );
      }
      for (const decl of declarations) this.#assertOverload(decl);
      for (const decl of declarations) this.#pushOperator(decl);
    }
    this.#pushOperator(dec);
  }
};
var isRelational = /* @__PURE__ */ new Set(["<", "<=", ">", ">=", "==", "!=", "in"]);
function createRegistry(opts) {
  return new Registry(opts);
}
var RootContext = class {
  #vars;
  #contextObj;
  #contextMap;
  #convertCache;
  constructor(registry, context) {
    this.#vars = registry.variables;
    if (context === void 0 || context === null) return;
    if (typeof context !== "object") {
      throw evaluationError("invalid_context", "Context must be an object");
    }
    if (context instanceof Map) this.#contextMap = context;
    else this.#contextObj = context;
  }
  getValue(key) {
    return this.#convertCache?.get(key) || (this.#contextObj ? this.#contextObj[key] : this.#contextMap?.get(key));
  }
  getVariable(name) {
    return this.#vars.get(name) ?? (this.#vars.dyn && !RESERVED.has(name) ? new VariableDeclaration(name, dynType) : void 0);
  }
  getCheckedValue(ev, ast) {
    const v = this.getValue(ast.args);
    if (v === void 0) throw ev.createError("unknown_variable", `Unknown variable: ${ast.args}`, ast);
    if (ast.checkedType.matchesValueType(v, ev)) return v;
    const type3 = ast.checkedType;
    const valueType = ev.debugType(v);
    if (type3.kind === "message" && valueType.kind === "map") {
      const c2 = ev.objectTypes.get(type3.name)?.convert?.(v);
      if (c2) return (this.#convertCache ??= /* @__PURE__ */ new Map()).set(ast.args, c2), c2;
    }
    throw ev.createError(
      "variable_type_mismatch",
      `Variable '${ast.args}' is not of type '${type3}', got '${valueType}'`,
      ast
    );
  }
  forkWithVariable(iterVar, iterType) {
    return new OverlayContext(this, iterVar, iterType);
  }
};
var OverlayContext = class _OverlayContext {
  #parent;
  accuType;
  accuValue;
  iterValue;
  constructor(parent, iterVar, iterType) {
    this.#parent = parent;
    this.iterVar = iterVar;
    this.iterType = iterType;
  }
  forkWithVariable(iterVar, iterType) {
    return new _OverlayContext(this, iterVar, iterType);
  }
  reuse(parent) {
    if (!this.async) return this.#parent = parent, this;
    const ctx = new _OverlayContext(parent, this.iterVar, this.iterType);
    ctx.accuType = this.accuType;
    return ctx;
  }
  setIterValue(v, ev) {
    if (this.iterType.matchesValueType(v, ev)) return this.iterValue = v, this;
    const type3 = this.iterType;
    const valueType = ev.debugType(v);
    if (type3.kind === "message" && valueType.kind === "map") {
      const c2 = ev.objectTypes.get(type3.name)?.convert?.(v);
      if (c2) return this.iterValue = c2, this;
    }
    throw ev.createError(
      "variable_type_mismatch",
      `Variable '${this.iterVar}' is not of type '${type3}', got '${valueType}'`
    );
  }
  setAccuType(type3) {
    return this.accuType = type3, this;
  }
  setAccuValue(v) {
    return this.accuValue = v, this;
  }
  getValue(key) {
    return this.iterVar === key ? this.iterValue : this.#parent.getValue(key);
  }
  getCheckedValue(ev, ast) {
    if (this.iterVar === ast.args) return this.iterValue;
    return this.#parent.getCheckedValue(ev, ast);
  }
  getVariable(name) {
    if (this.iterVar === name) return new VariableDeclaration(name, this.iterType);
    return this.#parent.getVariable(name);
  }
};
function protobufjsFieldToCelType(field) {
  let fieldType;
  if (field.map) {
    const keyType = protobufjsTypeToCelType(field.keyType, field.resolvedKeyType);
    const valueType = protobufjsTypeToCelType(field.type, field.resolvedType);
    fieldType = `map<${keyType}, ${valueType}>`;
  } else {
    fieldType = protobufjsTypeToCelType(field.type, field.resolvedType);
  }
  return { type: field.repeated ? `list<${fieldType}>` : fieldType };
}
function protobufjsTypeToCelType(protoType, resolvedType) {
  switch (protoType) {
    case "string":
      return "string";
    case "bytes":
      return "bytes";
    case "bool":
      return "bool";
    // protobufjs uses JavaScript numbers for all numeric types
    case "double":
    case "float":
    case "int32":
    case "int64":
    case "sint32":
    case "sint64":
    case "sfixed32":
    case "sfixed64":
    case "uint32":
    case "uint64":
    case "fixed32":
    case "fixed64":
      return "double";
    default:
      switch (resolvedType?.constructor.name) {
        case "Type":
          return resolvedType.fullName.slice(1);
        case "Enum":
          return "int";
      }
      if (protoType?.includes(".")) return protoType;
      return "dyn";
  }
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/operators.js
var dynType2 = celTypes.dyn;
var Base = class {
  dynType = celTypes.dyn;
  optionalType = celTypes.optional;
  stringType = celTypes.string;
  intType = celTypes.int;
  doubleType = celTypes.double;
  boolType = celTypes.bool;
  nullType = celTypes.null;
  listType = celTypes.list;
  mapType = celTypes.map;
  constructor(opts) {
    this.opts = opts.opts;
    this.registry = opts.registry;
    this.objectTypes = this.registry.objectTypes;
    this.objectTypesByConstructor = this.registry.objectTypesByConstructor;
  }
  /**
   * Get a TypeDeclaration instance for a type name
   * @param {string} typeName - The type name (e.g., 'string', 'int', 'dyn')
   * @returns {TypeDeclaration} The type declaration instance
   */
  getType(typeName) {
    return this.registry.getType(typeName);
  }
  debugType(v) {
    switch (typeof v) {
      case "string":
        return this.stringType;
      case "bigint":
        return this.intType;
      case "number":
        return this.doubleType;
      case "boolean":
        return this.boolType;
      case "object":
        if (v === null) return this.nullType;
        switch (v.constructor) {
          case void 0:
          case Object:
          case Map:
            return this.mapType;
          case Array:
          case Set:
            return this.listType;
          default:
            return this.objectTypesByConstructor.get(v.constructor)?.type || unsupportedType(this, v.constructor?.name || typeof v);
        }
      default:
        unsupportedType(this, typeof v);
    }
  }
};
function unsupportedType(self, type3) {
  throw self.createError("unsupported_type", `Unsupported type: ${type3}`);
}
var maybeAsyncArray = (a) => Array.isArray(a) ? a.some((n) => n.maybeAsync) : false;
function maybeAsync(l, r, h2) {
  if (r === true || r && (r?.maybeAsync || maybeAsyncArray(r))) return maybeAsyncBoth(h2);
  if (l === true || l && (l?.maybeAsync || maybeAsyncArray(l))) return maybeAsyncFirst(h2);
  return h2;
}
function maybeAsyncBoth(handler) {
  return handler.__asyncBoth ??= function handle(a, b2, c2, d2) {
    if (!(a instanceof Promise || b2 instanceof Promise)) return handler(a, b2, c2, d2);
    if (!(b2 instanceof Promise)) return a.then((_a) => handler(_a, b2, c2, d2));
    if (!(a instanceof Promise)) return b2.then((_b) => handler(a, _b, c2, d2));
    return Promise.all([a, b2]).then((p) => handler(p[0], p[1], c2, d2));
  };
}
function maybeAsyncFirst(handler) {
  return handler.__asyncFirst ??= function handle(a, b2, c2, d2) {
    if (a instanceof Promise) return a.then((_a) => handler(_a, b2, c2, d2));
    return handler(a, b2, c2, d2);
  };
}
function checkAccessNode(chk, ast, ctx) {
  ast.right = ast.args[1];
  const leftType = chk.check(ast.left = ast.args[0], ctx);
  if (ast.op === "[]") chk.check(ast.right, ctx);
  ast.handle = maybeAsync(
    ast.left,
    ast.op === "[]" ? ast.right : false,
    leftType !== dynType2 ? fieldAccessStatic : fieldAccess
  );
  if (leftType.kind !== "optional") return chk.checkAccessOnType(ast, ctx, leftType);
  return chk.registry.getOptionalType(chk.checkAccessOnType(ast, ctx, leftType.valueType, true));
}
function checkOptionalAccessNode(chk, ast, ctx) {
  ast.right = ast.args[1];
  const leftType = chk.check(ast.left = ast.args[0], ctx);
  if (ast.op === "[?]") chk.check(ast.right, ctx);
  ast.handle = maybeAsync(ast.left, ast.op === "[?]" ? ast.right : false, oFieldAccess);
  const actualType = leftType.kind === "optional" ? leftType.valueType : leftType;
  return chk.registry.getOptionalType(chk.checkAccessOnType(ast, ctx, actualType, true));
}
var HOMOGENEOUS_PREFIX = {
  heterogeneous_list_element: "List elements must have the same type,",
  heterogeneous_map_key: "Map key uses wrong type,",
  heterogeneous_map_value: "Map value uses wrong type,"
};
function checkElementHomogenous(chk, ctx, expected, el, code) {
  const type3 = chk.check(el, ctx);
  if (type3 === expected || expected.isEmpty()) return type3;
  if (type3.isEmpty()) return expected;
  throw chk.createError(
    code,
    `${HOMOGENEOUS_PREFIX[code]} expected type '${chk.formatType(expected)}' but found '${chk.formatType(type3)}'`,
    el
  );
}
function checkElement(chk, ctx, expected, el) {
  return expected.unify(chk.registry, chk.check(el, ctx)) || dynType2;
}
function ternaryConditionError(ev, value, node2) {
  const type3 = ev.debugRuntimeType(value);
  return ev.createError(
    "invalid_condition_type",
    `${node2.meta.label || "Ternary condition must be bool"}, got '${type3}'`,
    node2
  );
}
function handleTernary(c2, ev, ast, ctx) {
  if (c2 === true) return ev.run(ast.left, ctx);
  if (c2 === false) return ev.run(ast.right, ctx);
  throw ternaryConditionError(ev, c2, ast.condition);
}
function logicalOperandError(ev, value, node2) {
  const type3 = ev.debugRuntimeType(value);
  return ev.createError(
    "invalid_logical_operand",
    `Logical operator requires bool operands, got '${type3}'`,
    node2
  );
}
function logicalValueOrErr(ev, v, node2) {
  if (v instanceof Error) return v;
  return logicalOperandError(ev, v, node2);
}
function _logicalOp(exp, ev, ast, left, right) {
  if (right === exp) return exp;
  if (right === !exp) {
    if (left === right) return right;
    throw logicalValueOrErr(ev, left, ast.left);
  }
  if (right instanceof Promise) return right.then((r) => _logicalOpAsync(exp, ev, ast, left, r));
  throw logicalOperandError(ev, right, ast.left);
}
function _logicalOpAsync(exp, ev, ast, left, right) {
  if (right === exp) return exp;
  if (typeof right !== "boolean") throw logicalOperandError(ev, right, ast.right);
  if (typeof left !== "boolean") throw logicalValueOrErr(ev, left, ast.left);
  return !exp;
}
function checkLogicalOp(chk, ast, ctx) {
  const leftType = chk.check(ast.left = ast.args[0], ctx);
  const rightType = chk.check(ast.right = ast.args[1], ctx);
  if (!leftType.isDynOrBool()) {
    throw chk.createError(
      "invalid_logical_operand",
      `Logical operator requires bool operands, got '${chk.formatType(leftType)}'`,
      ast
    );
  }
  if (!rightType.isDynOrBool()) {
    throw chk.createError(
      "invalid_logical_operand",
      `Logical operator requires bool operands, got '${chk.formatType(rightType)}'`,
      ast
    );
  }
  return chk.boolType;
}
function checkUnary(chk, ast, ctx) {
  const op = ast.op;
  const right = chk.check(ast.args, ctx);
  ast.candidates = chk.registry.operatorCandidates(op);
  if (right.kind === "dyn") {
    ast.handle = maybeAsync(ast.args, false, handleUnary);
    return ast.candidates.returnType;
  }
  const overload = ast.candidates.findUnaryOverload(right);
  if (!overload) {
    throw chk.createError(
      "no_such_overload",
      `no such overload: ${op[0]}${chk.formatType(right)}`,
      ast
    );
  }
  ast.handle = maybeAsync(ast.args, false, overload.handler);
  return overload.returnType;
}
function handleUnary(left, ast, ev) {
  const leftType = ev.debugRuntimeType(left, ast.args.checkedType);
  const overload = ast.candidates.findUnaryOverload(leftType);
  if (overload) return overload.handler(left);
  throw ev.createError("no_such_overload", `no such overload: ${ast.op[0]}${leftType}`, ast);
}
function evaluateUnary(ev, ast, ctx) {
  return ast.handle(ev.run(ast.args, ctx), ast, ev);
}
function checkBinary(chk, ast, ctx) {
  const op = ast.op;
  const left = chk.check(ast.left = ast.args[0], ctx);
  const right = chk.check(ast.right = ast.args[1], ctx);
  ast.candidates = chk.registry.operatorCandidates(op);
  const overload = left.hasDynType || right.hasDynType ? void 0 : ast.candidates.findBinaryOverload(left, right);
  ast.handle = maybeAsync(ast.left, ast.right, overload?.handler || handleBinary);
  if (overload) return overload.returnType;
  const type3 = ast.candidates.checkBinaryOverload(left, right);
  if (!left.hasDynType) ast.leftStaticType = left;
  if (!right.hasDynType) ast.rightStaticType = right;
  if (type3) return type3;
  throw chk.createError(
    "no_such_overload",
    `no such overload: ${chk.formatType(left)} ${op} ${chk.formatType(right)}`,
    ast
  );
}
function evaluateBinary(ev, ast, ctx) {
  return ast.handle(ev.run(ast.left, ctx), ev.run(ast.right, ctx), ast, ev);
}
function evaluateBinaryFirst(ev, ast, ctx) {
  return ast.handle(ev.run(ast.left, ctx), ast.right, ast, ev);
}
function handleBinary(left, right, ast, ev) {
  const leftType = ast.leftStaticType || ev.debugTypeDeep(left).wrappedType;
  const rightType = ast.rightStaticType || ev.debugTypeDeep(right).wrappedType;
  const overload = ast.candidates.findBinaryOverload(leftType, rightType);
  if (overload) return overload.handler(left, right, ast, ev);
  throw ev.createError(
    "no_such_overload",
    `no such overload: ${leftType} ${ast.op} ${rightType}`,
    ast
  );
}
function callFunctionHandler(handler, ev, args, ast) {
  try {
    const result = handler.apply(ev, args);
    if (result instanceof Promise) {
      return result.catch((error) => {
        throw attachErrorAst(error, ast);
      });
    }
    return result;
  } catch (error) {
    throw attachErrorAst(error, ast);
  }
}
function callFn(args, ast, ev) {
  const argAst = ast.args[1];
  const types = ast.argTypes;
  let i2 = argAst.length;
  while (i2--) types[i2] = ev.debugRuntimeType(args[i2], argAst[i2].checkedType);
  const decl = ast.candidates.findFunction(types);
  if (decl) return callFunctionHandler(decl.handler, ev, args, ast);
  throw ev.createError(
    "no_matching_overload",
    `found no matching overload for '${ast.args[0]}(${types.map((t2) => t2.unwrappedType).join(", ")})'`,
    ast
  );
}
function callRecFn(args, ev, ast) {
  const [, receiverAst, argAst] = ast.args;
  const types = ast.argTypes;
  for (let i2 = 0; i2 < types.length; i2++)
    types[i2] = ev.debugRuntimeType(args[i2 + 1], argAst[i2].checkedType);
  const receiverType = ev.debugRuntimeType(args[0], receiverAst.checkedType);
  const decl = ast.candidates.findFunction(types, receiverType);
  if (decl) return callFunctionHandler(decl.handler, ev, args, ast);
  throw ev.createError(
    "no_matching_overload",
    `found no matching overload for '${receiverType.type}.${ast.args[0]}(${types.map((t2) => t2.unwrappedType).join(", ")})'`,
    ast
  );
}
function resolveAstArray(ev, astArray, ctx, i2 = astArray.length) {
  if (i2 === 0) return [];
  let async;
  const results = new Array(i2);
  while (i2--) if ((results[i2] = ev.run(astArray[i2], ctx)) instanceof Promise) async ??= true;
  return async ? Promise.all(results) : results;
}
function safeFromEntries(entries) {
  const obj = {};
  for (let i2 = 0; i2 < entries.length; i2++) {
    const [k, v] = entries[i2];
    if (k === "__proto__" || k === "constructor" || k === "prototype") continue;
    obj[k] = v;
  }
  return obj;
}
function comprehensionElementType(chk, iterable, ctx) {
  const iterType = chk.check(iterable, ctx);
  if (iterType.kind === "dyn") return iterType;
  if (iterType.kind === "list") return iterType.valueType;
  if (iterType.kind === "map") return iterType.keyType;
  throw chk.createError(
    "invalid_comprehension_range",
    `Expression of type '${chk.formatType(
      iterType
    )}' cannot be range of a comprehension (must be list, map, or dynamic).`,
    iterable
  );
}
function toIterable(ev, args, coll) {
  if (coll instanceof Set) return [...coll];
  if (coll instanceof Map) return [...coll.keys()];
  if (coll && typeof coll === "object") return objKeys(coll);
  throw ev.createError(
    "invalid_comprehension_range",
    `Expression of type '${ev.debugType(
      coll
    )}' cannot be range of a comprehension (must be list, map, or dynamic).`,
    args.iterable
  );
}
function runQualifier(items, args, ev, ctx) {
  if (!isArray(items)) items = toIterable(ev, args, items);
  const accu = ev.run(args.init, ctx = args.iterCtx.reuse(ctx));
  ctx.accuValue = accu;
  if (ctx === args.iterCtx) return iterateQuantifier(ev, ctx, args, items, accu, 0);
  return continueQuantifier(ev, ctx, args, items, accu, 0);
}
function runComprehension(items, args, ev, ctx) {
  if (!isArray(items)) items = toIterable(ev, args, items);
  const accu = ev.run(args.init, ctx = args.iterCtx.reuse(ctx));
  ctx.accuValue = accu;
  if (ctx === args.iterCtx) return iterateLoop(ev, ctx, args, items, accu, 0);
  return continueLoop(ev, ctx, args, items, accu, 0);
}
function iterateLoop(ev, ctx, args, items, accu, i2) {
  const condition = args.condition;
  const step = args.step;
  const len = items.length;
  while (i2 < len) {
    if (condition && !condition(accu)) break;
    accu = ev.run(step, ctx.setIterValue(items[i2++], ev));
    if (accu instanceof Promise) return continueLoop(ev, ctx, args, items, accu, i2);
  }
  return args.result(accu);
}
async function continueLoop(ev, ctx, args, items, accu, i2) {
  if (ctx === args.iterCtx) ctx.async = true;
  const condition = args.condition;
  const step = args.step;
  const len = items.length;
  accu = await accu;
  while (i2 < len) {
    if (condition && !condition(accu)) return args.result(accu);
    accu = ev.run(step, ctx.setIterValue(items[i2++], ev));
    if (accu instanceof Promise) accu = await accu;
  }
  return args.result(accu);
}
function iterateQuantifier(ev, ctx, args, items, accu, i2, error, stp) {
  const condition = args.condition;
  const step = args.step;
  const len = items.length;
  while (i2 < len) {
    if (!condition(accu)) return args.result(accu);
    stp = ev.tryEval(step, ctx.setIterValue(items[i2++], ev));
    if (stp instanceof Promise) return continueQuantifier(ev, ctx, args, items, accu, i2, error, stp);
    if (stp instanceof Error && (error ??= stp)) continue;
    accu = stp;
  }
  if (error && condition(accu)) throw error;
  return args.result(accu);
}
async function continueQuantifier(ev, ctx, args, items, accu, i2, error, stp) {
  if (ctx === args.iterCtx) ctx.async = true;
  const condition = args.condition;
  const step = args.step;
  const len = items.length;
  stp = await stp;
  if (stp instanceof Error) error ??= stp;
  else accu = stp;
  while (i2 < len) {
    if (!condition(accu)) return args.result(accu);
    stp = ev.tryEval(step, ctx.setIterValue(items[i2++], ev));
    if (stp instanceof Promise) stp = await stp;
    if (stp instanceof Error && (error ??= stp)) continue;
    accu = stp;
  }
  if (error && condition(accu)) throw error;
  return args.result(accu);
}
function oFieldAccess(left, right, ast, ev) {
  return ev.optionalType.field(left, right, ast, ev);
}
function fieldAccessStatic(left, right, ast, ev) {
  return ast.left.checkedType.field(left, right, ast, ev);
}
var empty = /* @__PURE__ */ Object.create(null);
function fieldAccess(left, right, ast, ev) {
  switch (left?.constructor) {
    case void 0:
    case Object: {
      const v = hasOwn(left || empty, right) ? left[right] : void 0;
      if (v !== void 0) return ev.debugType(v), v;
      break;
    }
    case Map: {
      const v = left.get(right);
      if (v !== void 0) return ev.debugType(v), v;
      break;
    }
    case Array:
    case Set:
      return ev.listType.field(left, right, ast, ev);
    default:
      const t2 = ev.objectTypesByConstructor.get(left.constructor);
      if (t2) return t2.type.field(left, right, ast, ev);
      else if (typeof left === "object") unsupportedType(ev, left.constructor.name);
  }
  throw ev.createError("no_such_key", `No such key: ${right}`, ast);
}
var emptyList = () => [];
var emptyMap = () => ({});
var OPERATORS = {
  value: {
    check(chk, ast) {
      return chk.debugType(ast.args);
    },
    evaluate(_ev, ast) {
      return ast.args;
    }
  },
  id: {
    check(chk, ast, ctx) {
      const variable = ctx.getVariable(ast.args);
      if (!variable) throw chk.createError("unknown_variable", `Unknown variable: ${ast.args}`, ast);
      if (variable.constant) {
        const alternate = ast.clone(OPERATORS.value, variable.value);
        ast.setMeta("alternate", alternate);
        return chk.check(alternate, ctx);
      }
      return variable.type;
    },
    evaluate(ev, ast, ctx) {
      return ctx.getCheckedValue(ev, ast);
    }
  },
  ".": {
    alias: "fieldAccess",
    check: checkAccessNode,
    evaluate: evaluateBinaryFirst
  },
  ".?": {
    alias: "optionalFieldAccess",
    check: checkOptionalAccessNode,
    evaluate: evaluateBinaryFirst
  },
  "[]": {
    alias: "bracketAccess",
    check: checkAccessNode,
    evaluate: evaluateBinary
  },
  "[?]": {
    alias: "optionalBracketAccess",
    check: checkOptionalAccessNode,
    evaluate: evaluateBinary
  },
  call: {
    check(chk, ast, ctx) {
      const [functionName, args] = ast.args;
      const candidates = ast.candidates = chk.registry.functionCandidates(
        false,
        functionName,
        args.length
      );
      const argTypes = ast.argTypes = args.map((a) => chk.check(a, ctx));
      const decl = candidates.findFunction(argTypes);
      if (!decl) {
        throw chk.createError(
          "no_matching_overload",
          `found no matching overload for '${functionName}(${chk.formatTypeList(argTypes)})'`,
          ast
        );
      }
      const handle = argTypes.some((t2) => t2.hasDynType) ? callFn : decl.handler.__handle ??= (l, _ast, e) => callFunctionHandler(decl.handler, e, l, _ast);
      ast.handle = maybeAsync(args, false, handle);
      return decl.returnType;
    },
    evaluate(ev, ast, ctx) {
      return ast.handle(resolveAstArray(ev, ast.args[1], ctx), ast, ev);
    }
  },
  rcall: {
    check(chk, ast, ctx) {
      const [methodName, receiver, args] = ast.args;
      const receiverType = chk.check(receiver, ctx);
      const candidates = ast.candidates = chk.registry.functionCandidates(
        true,
        methodName,
        args.length
      );
      const argTypes = ast.argTypes = args.map((a) => chk.check(a, ctx));
      ast.receiverWithArgs = [receiver, ...args];
      ast.handle = maybeAsync(ast.receiverWithArgs, false, callRecFn);
      if (receiverType.kind === "dyn" && candidates.returnType) return candidates.returnType;
      const decl = candidates.findFunction(argTypes, receiverType);
      if (!decl) {
        throw chk.createError(
          "no_matching_overload",
          `found no matching overload for '${receiverType.type}.${methodName}(${chk.formatTypeList(
            argTypes
          )})'`,
          ast
        );
      }
      if (!receiverType.hasPlaceholderType && !argTypes.some((t2) => t2.hasDynType)) {
        const fn = decl.handler;
        const handle = fn.__handle ??= (a, ev, _ast) => callFunctionHandler(fn, ev, a, _ast);
        ast.handle = maybeAsync(ast.receiverWithArgs, false, handle);
      }
      return decl.returnType;
    },
    evaluate(ev, ast, ctx) {
      return ast.handle(resolveAstArray(ev, ast.receiverWithArgs, ctx), ev, ast);
    }
  },
  list: {
    check(chk, ast, ctx) {
      const arr = ast.args;
      const arrLen = arr.length;
      if (arrLen === 0) return ast.setMeta("evaluate", emptyList) && chk.getType("list<T>");
      let valueType = chk.check(arr[0], ctx);
      const check2 = chk.opts.homogeneousAggregateLiterals ? checkElementHomogenous : checkElement;
      for (let i2 = 1; i2 < arrLen; i2++)
        valueType = check2(chk, ctx, valueType, arr[i2], "heterogeneous_list_element");
      return chk.registry.getListType(valueType);
    },
    evaluate(ev, ast, ctx) {
      return resolveAstArray(ev, ast.args, ctx);
    }
  },
  map: {
    check(chk, ast, ctx) {
      const arr = ast.args;
      const arrLen = arr.length;
      if (arrLen === 0) return ast.setMeta("evaluate", emptyMap) && chk.getType("map<K, V>");
      const check2 = chk.opts.homogeneousAggregateLiterals ? checkElementHomogenous : checkElement;
      let keyType = chk.check(arr[0][0], ctx);
      let valueType = chk.check(arr[0][1], ctx);
      for (let i2 = 1; i2 < arrLen; i2++) {
        const e = arr[i2];
        keyType = check2(chk, ctx, keyType, e[0], "heterogeneous_map_key");
        valueType = check2(chk, ctx, valueType, e[1], "heterogeneous_map_value");
      }
      return chk.registry.getMapType(keyType, valueType);
    },
    evaluate(ev, ast, ctx) {
      const astEntries = ast.args;
      const len = astEntries.length;
      const results = new Array(len);
      let async;
      for (let i2 = 0; i2 < len; i2++) {
        const e = astEntries[i2];
        const k = ev.run(e[0], ctx);
        const v = ev.run(e[1], ctx);
        if (k instanceof Promise || v instanceof Promise) {
          results[i2] = Promise.all([k, v]);
          async ??= true;
        } else {
          results[i2] = [k, v];
        }
      }
      if (async) return Promise.all(results).then(safeFromEntries);
      return safeFromEntries(results);
    }
  },
  comprehension: {
    check(chk, ast, ctx) {
      const args = ast.args;
      args.iterCtx = ctx.forkWithVariable(args.iterVarName, comprehensionElementType(chk, args.iterable, ctx)).setAccuType(chk.check(args.init, ctx));
      const stepType = chk.check(args.step, args.iterCtx);
      const handler = args.errorsAreFatal ? runComprehension : runQualifier;
      ast.handle = maybeAsync(args.iterable, false, handler);
      if (args.kind === "quantifier") return chk.boolType;
      return stepType;
    },
    evaluate(ev, ast, ctx) {
      return ast.handle(ev.run(ast.args.iterable, ctx), ast.args, ev, ctx);
    }
  },
  accuValue: {
    check(_chk, _ast, ctx) {
      return ctx.accuType;
    },
    evaluate(_ev, _ast, ctx) {
      return ctx.accuValue;
    }
  },
  accuInc: {
    check(_chk, _ast, ctx) {
      return ctx.accuType;
    },
    evaluate(_ev, _ast, ctx) {
      return ctx.accuValue += 1;
    }
  },
  accuPush: {
    check(chk, ast, ctx) {
      const listType2 = ctx.accuType;
      const itemType = chk.check(ast.args, ctx);
      if (!ast.args.maybeAsync) ast.setMeta("evaluate", OPERATORS.accuPush.evaluateSync);
      if (listType2.kind === "list" && listType2.valueType.kind !== "param") return listType2;
      return chk.registry.getListType(itemType);
    },
    evaluateSync(ev, ast, ctx) {
      return ctx.accuValue.push(ev.run(ast.args, ctx)), ctx.accuValue;
    },
    evaluate(ev, ast, ctx) {
      const arr = ctx.accuValue;
      const el = ev.run(ast.args, ctx);
      if (el instanceof Promise) return el.then((_e) => arr.push(_e) && arr);
      arr.push(el);
      return arr;
    }
  },
  "?:": {
    alias: "ternary",
    check(chk, ast, ctx) {
      const condast = ast.condition = ast.args[0];
      const leftast = ast.left = ast.args[1];
      const rightast = ast.right = ast.args[2];
      const condType = chk.check(condast, ctx);
      if (!condType.isDynOrBool()) {
        throw chk.createError(
          "invalid_condition_type",
          `${condast.meta.label || "Ternary condition must be bool"}, got '${chk.formatType(condType)}'`,
          condast
        );
      }
      const leftType = chk.check(leftast, ctx);
      const rightType = chk.check(rightast, ctx);
      const unified = leftType.unify(chk.registry, rightType);
      ast.handle = maybeAsync(condast, false, handleTernary);
      if (unified) return unified;
      throw chk.createError(
        "incompatible_ternary_branches",
        `Ternary branches must have the same type, got '${chk.formatType(
          leftType
        )}' and '${chk.formatType(rightType)}'`,
        ast
      );
    },
    evaluate(ev, ast, ctx) {
      return ast.handle(ev.run(ast.condition, ctx), ev, ast, ctx);
    }
  },
  "||": {
    check: checkLogicalOp,
    evaluate(ev, ast, ctx) {
      const l = ev.tryEval(ast.left, ctx);
      if (l === true) return true;
      if (l === false) {
        const right = ev.run(ast.right, ctx);
        if (typeof right === "boolean") return right;
        return _logicalOp(true, ev, ast, l, right);
      }
      if (l instanceof Promise)
        return l.then(
          (_l) => _l === true ? _l : _logicalOp(true, ev, ast, _l, ev.run(ast.right, ctx))
        );
      return _logicalOp(true, ev, ast, l, ev.run(ast.right, ctx));
    }
  },
  "&&": {
    check: checkLogicalOp,
    evaluate(ev, ast, ctx) {
      const l = ev.tryEval(ast.left, ctx);
      if (l === false) return false;
      if (l === true) {
        const right = ev.run(ast.right, ctx);
        if (typeof right === "boolean") return right;
        return _logicalOp(false, ev, ast, l, right);
      }
      if (l instanceof Promise)
        return l.then(
          (_l) => _l === false ? _l : _logicalOp(false, ev, ast, _l, ev.run(ast.right, ctx))
        );
      return _logicalOp(false, ev, ast, l, ev.run(ast.right, ctx));
    }
  },
  "!_": { alias: "unaryNot", check: checkUnary, evaluate: evaluateUnary },
  "-_": { alias: "unaryMinus", check: checkUnary, evaluate: evaluateUnary }
};
var binaryOperators = ["!=", "==", "in", "+", "-", "*", "/", "%", "<", "<=", ">", ">="];
for (const op of binaryOperators) OPERATORS[op] = { check: checkBinary, evaluate: evaluateBinary };
for (const op of objKeys(OPERATORS)) {
  const obj = OPERATORS[op];
  obj.name = op;
  if (obj.alias) OPERATORS[obj.alias] = obj;
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/macros.js
var identity = (x) => x;
function assertIdentifier(node2, message) {
  if (node2.op === "id") return node2.args;
  throw parseError("invalid_macro_argument", message, node2);
}
function createMapExpander(hasFilter) {
  const functionDesc = hasFilter ? "map(var, filter, transform)" : "map(var, transform)";
  const invalidMsg = `${functionDesc} invalid predicate iteration variable`;
  const label = `${functionDesc} filter predicate must return bool`;
  return ({ args, receiver, ast: callAst }) => {
    const [iterVar, predicate, transform] = hasFilter ? args : [args[0], null, args[1]];
    let step = transform.clone(OPERATORS.accuPush, transform);
    if (predicate) {
      const accuValue = predicate.clone(OPERATORS.accuValue);
      step = predicate.clone(OPERATORS.ternary, [predicate.setMeta("label", label), step, accuValue]);
    }
    return {
      callAst: callAst.clone(OPERATORS.comprehension, {
        errorsAreFatal: true,
        iterable: receiver,
        iterVarName: assertIdentifier(iterVar, invalidMsg),
        init: callAst.clone(OPERATORS.list, []),
        step,
        result: identity
      })
    };
  };
}
function createFilterExpander() {
  const functionDesc = "filter(var, predicate)";
  const invalidMsg = `${functionDesc} invalid predicate iteration variable`;
  const label = `${functionDesc} predicate must return bool`;
  return ({ args, receiver, ast: callAst }) => {
    const iterVarName = assertIdentifier(args[0], invalidMsg);
    const accuValue = callAst.clone(OPERATORS.accuValue);
    const predicate = args[1].setMeta("label", label);
    const appendItem = callAst.clone(OPERATORS.accuPush, callAst.clone(OPERATORS.id, iterVarName));
    const step = predicate.clone(OPERATORS.ternary, [predicate, appendItem, accuValue]);
    return {
      callAst: callAst.clone(OPERATORS.comprehension, {
        errorsAreFatal: true,
        iterable: receiver,
        iterVarName,
        init: callAst.clone(OPERATORS.list, []),
        step,
        result: identity
      })
    };
  };
}
function createQuantifierExpander(opts) {
  const invalidMsg = `${opts.name}(var, predicate) invalid predicate iteration variable`;
  const label = `${opts.name}(var, predicate) predicate must return bool`;
  return ({ args, receiver, ast: callAst }) => {
    const predicate = args[1].setMeta("label", label);
    const transform = opts.transform({ args, ast: callAst, predicate, opts });
    return {
      callAst: callAst.clone(OPERATORS.comprehension, {
        kind: "quantifier",
        errorsAreFatal: opts.errorsAreFatal || false,
        iterable: receiver,
        iterVarName: assertIdentifier(args[0], invalidMsg),
        init: transform.init,
        condition: transform.condition,
        step: transform.step,
        result: transform.result || identity
      })
    };
  };
}
function createHasExpander() {
  const invalidHasArgument = "has() invalid argument";
  function evaluate3(ev, macro, ctx) {
    const nodes = macro.macroHasProps;
    let i2 = nodes.length;
    let obj = ev.run(nodes[--i2], ctx);
    let inOptionalContext;
    while (i2--) {
      const node2 = nodes[i2];
      if (node2.op === ".?") inOptionalContext ??= true;
      obj = ev.debugType(obj).fieldLazy(obj, node2.args[1], node2, ev);
      if (obj !== void 0) continue;
      if (!(!inOptionalContext && i2 && node2.op === ".")) break;
      throw evaluationError("no_such_key", `No such key: ${node2.args[1]}`, node2);
    }
    return obj !== void 0;
  }
  function typeCheck(checker, macro, ctx) {
    let node2 = macro.args[0];
    if (node2.op !== ".") throw checker.createError("invalid_macro_argument", invalidHasArgument, node2);
    if (!macro.macroHasProps) {
      const props = [];
      while (node2.op === "." || node2.op === ".?") node2 = props.push(node2) && node2.args[0];
      if (node2.op !== "id") throw checker.createError("invalid_macro_argument", invalidHasArgument, node2);
      checker.check(node2, ctx);
      props.push(node2);
      macro.macroHasProps = props;
    }
    return checker.getType("bool");
  }
  return function({ args }) {
    return { args, evaluate: evaluate3, typeCheck, async: false };
  };
}
function registerMacros(registry) {
  const functionOverload = (sig, handler) => registry.registerFunctionOverload(sig, handler);
  functionOverload("has(ast): bool", createHasExpander());
  functionOverload(
    "list.all(ast, ast): bool",
    createQuantifierExpander({
      name: "all",
      transform({ ast: callAst, predicate, opts }) {
        return {
          init: callAst.clone(OPERATORS.value, true),
          condition: identity,
          step: predicate.clone(OPERATORS.ternary, [
            predicate,
            predicate.clone(OPERATORS.value, true),
            predicate.clone(OPERATORS.value, false)
          ])
        };
      }
    })
  );
  functionOverload(
    "list.exists(ast, ast): bool",
    createQuantifierExpander({
      name: "exists",
      condition(accu) {
        return !accu;
      },
      transform({ ast: callAst, predicate, opts }) {
        return {
          init: callAst.clone(OPERATORS.value, false),
          condition: opts.condition,
          step: predicate.clone(OPERATORS.ternary, [
            predicate,
            predicate.clone(OPERATORS.value, true),
            predicate.clone(OPERATORS.value, false)
          ])
        };
      }
    })
  );
  functionOverload(
    "list.exists_one(ast, ast): bool",
    createQuantifierExpander({
      name: "exists_one",
      errorsAreFatal: true,
      result(accu) {
        return accu === 1;
      },
      transform({ ast: callAst, predicate, opts }) {
        const accuValue = callAst.clone(OPERATORS.accuValue);
        return {
          init: callAst.clone(OPERATORS.value, 0),
          step: predicate.clone(OPERATORS.ternary, [predicate, callAst.clone(OPERATORS.accuInc), accuValue]),
          result: opts.result
        };
      }
    })
  );
  functionOverload("list.map(ast, ast): list<dyn>", createMapExpander(false));
  functionOverload("list.map(ast, ast, ast): list<dyn>", createMapExpander(true));
  functionOverload("list.filter(ast, ast): list<dyn>", createFilterExpander());
  class CelNamespace {
  }
  const celNamespace = new CelNamespace();
  registry.registerType("CelNamespace", CelNamespace);
  registry.registerConstant("cel", "CelNamespace", celNamespace);
  function bindTypeCheck(checker, m, ctx) {
    m.bindCtx = ctx.forkWithVariable(m.var, checker.check(m.val, ctx));
    const type3 = checker.check(m.exp, m.bindCtx);
    if (m.val.maybeAsync || m.exp.maybeAsync) return type3;
    m.ast.setMeta("async", false);
    m.evaluate = bindEvaluateSync;
    return type3;
  }
  function bindOptionalEvaluate(ev, exp, bindCtx, ctx, boundValue) {
    const res = ev.run(exp, ctx = bindCtx.reuse(ctx).setIterValue(boundValue, ev));
    if (res instanceof Promise && ctx === bindCtx) ctx.async = true;
    return res;
  }
  function bindEvaluate(ev, { val, exp, bindCtx }, ctx) {
    const v = ev.run(val, ctx);
    if (v instanceof Promise) return v.then((_v) => bindOptionalEvaluate(ev, exp, bindCtx, ctx, _v));
    return bindOptionalEvaluate(ev, exp, bindCtx, ctx, v);
  }
  function bindEvaluateSync(ev, { val, exp, bindCtx }, ctx) {
    return ev.run(exp, bindCtx.reuse(ctx).setIterValue(ev.run(val, ctx), ev));
  }
  functionOverload("CelNamespace.bind(ast, dyn, ast): dyn", ({ ast, args }) => {
    return {
      ast,
      var: assertIdentifier(args[0], "invalid variable argument"),
      val: args[1],
      exp: args[2],
      bindCtx: void 0,
      typeCheck: bindTypeCheck,
      evaluate: bindEvaluate
    };
  });
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/overloads.js
function registerOverloads(registry) {
  const unaryOverload = (op, t2, h2, ret) => registry.unaryOverload(op, t2, h2, ret, false);
  const binaryOverload = (l, op, r, h2, ret) => registry.binaryOverload(l, op, r, h2, ret, false);
  function verifyInteger(v, ast) {
    if (v <= MAX_INT && v >= MIN_INT) return v;
    throw evaluationError("numeric_overflow", `integer overflow: ${v}`, ast);
  }
  function throwDivisionByZero(ast) {
    throw evaluationError("division_by_zero", "division by zero", ast);
  }
  function throwModuloByZero(ast) {
    throw evaluationError("modulo_by_zero", "modulo by zero", ast);
  }
  unaryOverload("!", "bool", (a) => !a);
  unaryOverload("-", "int", (a) => -a);
  binaryOverload("dyn<int>", `==`, `double`, (a, b2) => a == b2);
  binaryOverload("dyn<int>", `==`, `uint`, (a, b2) => a == b2.valueOf());
  binaryOverload("int", "*", "int", (a, b2, ast) => verifyInteger(a * b2, ast));
  binaryOverload("int", "+", "int", (a, b2, ast) => verifyInteger(a + b2, ast));
  binaryOverload("int", "-", "int", (a, b2, ast) => verifyInteger(a - b2, ast));
  binaryOverload("int", "/", "int", (a, b2, ast) => {
    if (b2 === MIN_UINT) return throwDivisionByZero(ast);
    return a / b2;
  });
  binaryOverload("int", "%", "int", (a, b2, ast) => {
    if (b2 === MIN_UINT) return throwModuloByZero(ast);
    return a % b2;
  });
  unaryOverload("-", "double", (a) => -a);
  binaryOverload("double", "*", "double", (a, b2) => a * b2);
  binaryOverload("double", "+", "double", (a, b2) => a + b2);
  binaryOverload("double", "-", "double", (a, b2) => a - b2);
  binaryOverload("double", "/", "double", (a, b2) => a / b2);
  binaryOverload("string", "+", "string", (a, b2) => a + b2);
  binaryOverload("list<V>", "+", "list<V>", (a, b2) => [...a, ...b2]);
  binaryOverload("bytes", "+", "bytes", (a, b2) => {
    if (!a.length) return b2;
    if (!b2.length) return a;
    const result = new Uint8Array(a.length + b2.length);
    result.set(a, 0);
    result.set(b2, a.length);
    return result;
  });
  const GPD = "google.protobuf.Duration";
  binaryOverload(GPD, "+", GPD, (a, b2) => a.addDuration(b2));
  binaryOverload(GPD, "-", GPD, (a, b2) => a.subtractDuration(b2));
  binaryOverload(GPD, "==", GPD, (a, b2) => a.seconds === b2.seconds && a.nanos === b2.nanos);
  const GPT = "google.protobuf.Timestamp";
  binaryOverload(GPT, "==", GPT, (a, b2) => a.getTime() === b2.getTime());
  binaryOverload(GPT, "-", GPT, (a, b2) => Duration.fromMilliseconds(a.getTime() - b2.getTime()), GPD);
  binaryOverload(GPT, "-", GPD, (a, b2) => b2.subtractTimestamp(a));
  binaryOverload(GPT, "+", GPD, (a, b2) => b2.extendTimestamp(a));
  binaryOverload(GPD, "+", GPT, (a, b2) => a.extendTimestamp(b2));
  function listIncludes(value, list, ast, ev) {
    if (list instanceof Set && list.has(value)) return true;
    for (const v of list) if (isEqual(value, v, ast, ev)) return true;
    return false;
  }
  function mapIncludes(a, b2) {
    if (b2 instanceof Map) return b2.get(a) !== void 0;
    return hasOwn(b2, a) ? b2[a] !== void 0 : false;
  }
  function listMembership(value, list, ast, ev) {
    return listIncludes(value, list, ast, ev);
  }
  binaryOverload("V", "in", "list<V>", listMembership);
  binaryOverload("K", "in", "map<K, V>", mapIncludes);
  for (const t2 of ["type", "null", "bool", "string", "int", "double"]) {
    binaryOverload(t2, "==", t2, (a, b2) => a === b2);
  }
  binaryOverload("bytes", `==`, "bytes", (a, b2) => {
    if (a === b2) return true;
    let i2 = a.length;
    if (i2 !== b2.length) return false;
    while (i2--) if (a[i2] !== b2[i2]) return false;
    return true;
  });
  binaryOverload("list<V>", `==`, "list<V>", (a, b2, ast, ev) => {
    if (a === b2) return true;
    if (isArray(a) && isArray(b2)) {
      const length = a.length;
      if (length !== b2.length) return false;
      for (let i2 = 0; i2 < length; i2++) {
        if (!isEqual(a[i2], b2[i2], ast, ev)) return false;
      }
      return true;
    }
    if (a instanceof Set && b2 instanceof Set) {
      if (a.size !== b2.size) return false;
      for (const value of a) if (!b2.has(value)) return false;
      return true;
    }
    const arr = a instanceof Set ? b2 : a;
    const set2 = a instanceof Set ? a : b2;
    if (!isArray(arr)) return false;
    if (arr.length !== set2?.size) return false;
    for (let i2 = 0; i2 < arr.length; i2++) if (!set2.has(arr[i2])) return false;
    return true;
  });
  binaryOverload("map<K, V>", `==`, "map<K, V>", (a, b2, ast, ev) => {
    if (a === b2) return true;
    if (a instanceof Map && b2 instanceof Map) {
      if (a.size !== b2.size) return false;
      for (const [key, value] of a)
        if (!(b2.has(key) && isEqual(value, b2.get(key), ast, ev))) return false;
      return true;
    }
    if (a instanceof Map || b2 instanceof Map) {
      const obj = a instanceof Map ? b2 : a;
      const map = a instanceof Map ? a : b2;
      const keysObj = objKeys(obj);
      if (map.size !== keysObj.length) return false;
      for (const [key, value] of map) {
        if (!(key in obj && isEqual(value, obj[key], ast, ev))) return false;
      }
      return true;
    }
    const keysA = objKeys(a);
    const keysB = objKeys(b2);
    if (keysA.length !== keysB.length) return false;
    for (let i2 = 0; i2 < keysA.length; i2++) {
      const key = keysA[i2];
      if (!(key in b2 && isEqual(a[key], b2[key], ast, ev))) return false;
    }
    return true;
  });
  binaryOverload("uint", "==", "uint", (a, b2) => a.valueOf() === b2.valueOf());
  binaryOverload("dyn<uint>", `==`, `double`, (a, b2) => a.valueOf() == b2);
  binaryOverload("uint", "+", "uint", (a, b2) => new UnsignedInt(a.valueOf() + b2.valueOf()));
  binaryOverload("uint", "-", "uint", (a, b2) => new UnsignedInt(a.valueOf() - b2.valueOf()));
  binaryOverload("uint", "*", "uint", (a, b2) => new UnsignedInt(a.valueOf() * b2.valueOf()));
  binaryOverload("uint", "/", "uint", (a, b2, ast) => {
    if (b2.valueOf() === MIN_UINT) return throwDivisionByZero(ast);
    return new UnsignedInt(a.valueOf() / b2.valueOf());
  });
  binaryOverload("uint", "%", "uint", (a, b2, ast) => {
    if (b2.valueOf() === MIN_UINT) return throwModuloByZero(ast);
    return new UnsignedInt(a.valueOf() % b2.valueOf());
  });
  for (const [left, right] of [
    ["bool", "bool"],
    ["int", "int"],
    ["uint", "uint"],
    ["double", "double"],
    ["string", "string"],
    ["google.protobuf.Timestamp", "google.protobuf.Timestamp"],
    ["google.protobuf.Duration", "google.protobuf.Duration"],
    ["int", "uint"],
    ["int", "double"],
    ["double", "int"],
    ["double", "uint"],
    ["uint", "int"],
    ["uint", "double"]
  ]) {
    binaryOverload(left, "<", right, (a, b2) => a < b2);
    binaryOverload(left, "<=", right, (a, b2) => a <= b2);
    binaryOverload(left, ">", right, (a, b2) => a > b2);
    binaryOverload(left, ">=", right, (a, b2) => a >= b2);
  }
}
function isEqual(a, b2, ast, ev) {
  if (a === b2) return true;
  switch (typeof a) {
    case "undefined":
    case "string":
    case "boolean":
      return false;
    case "bigint":
      if (typeof b2 === "number") return a == b2;
      return false;
    case "number":
      if (typeof b2 === "bigint") return a == b2;
      return false;
    case "object":
      if (typeof b2 !== "object") return false;
      const leftType = ev.debugType(a);
      const rightType = ev.debugType(b2);
      if (leftType !== rightType) return false;
      const overload = ev.registry.findBinaryOverload("==", leftType, rightType);
      if (!overload) return false;
      return overload.handler(a, b2, ast, ev);
  }
  throw evaluationError("invalid_comparison_type", `Cannot compare values of type ${typeof a}`, ast);
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/type-checker.js
var toDynTypeBinding = (/* @__PURE__ */ new Map()).set("A", "dyn").set("T", "dyn").set("K", "dyn").set("V", "dyn");
var TypeChecker = class extends Base {
  constructor(opts, isEvaluating) {
    super(opts);
    this.createError = isEvaluating ? evaluationError : typeError;
  }
  /**
   * Check an expression and return its inferred type
   * @param {Array|any} ast - The AST node to check
   * @returns {Object} The inferred type declaration
   * @throws {TypeError} If type checking fails
   */
  check(ast, ctx) {
    try {
      return ast.checkedType ??= ast.check(this, ast, ctx);
    } catch (error) {
      throw attachErrorAst(error, ast);
    }
  }
  checkAccessOnType(ast, ctx, leftType, allowMissingField = false) {
    if (leftType === this.dynType) return leftType;
    const indexTypeName = (ast.op === "[]" || ast.op === "[?]" ? this.check(ast.args[1], ctx) : this.stringType).type;
    if (leftType.kind === "list") {
      if (indexTypeName === "int" || indexTypeName === "dyn") return leftType.valueType;
      throw this.createError("invalid_index_type", `List index must be int, got '${indexTypeName}'`, ast);
    }
    if (leftType.kind === "map") return leftType.valueType;
    const customType = this.objectTypes.get(leftType.name);
    if (customType) {
      if (!(indexTypeName === "string" || indexTypeName === "dyn")) {
        throw this.createError(
          "invalid_index_type",
          `Cannot index type '${leftType.name}' with type '${indexTypeName}'`,
          ast
        );
      }
      if (customType.fields) {
        let keyName;
        if (ast.op === "." || ast.op === ".?") keyName = ast.args[1];
        else if (ast.args[1].op === "value") keyName = ast.args[1].args;
        if (typeof keyName === "string") {
          const fieldType = customType.fields[keyName];
          if (fieldType) return fieldType;
          if (allowMissingField) return this.dynType;
          throw this.createError("no_such_key", `No such key: ${keyName}`, ast);
        }
      }
      return this.dynType;
    }
    throw this.createError("cannot_index_type", `Cannot index type '${this.formatType(leftType)}'`, ast);
  }
  formatType(type3) {
    if (!type3.hasPlaceholderType) return type3.name;
    return type3.templated(this.registry, toDynTypeBinding).name;
  }
  formatTypeList(types) {
    return types.map((t2) => this.formatType(t2)).join(", ");
  }
};

// ../../main/node_modules/@marcbachmann/cel-js/lib/parser.js
var TOKEN = {
  EOF: 0,
  NUMBER: 1,
  STRING: 2,
  BOOLEAN: 3,
  NULL: 4,
  IDENTIFIER: 5,
  PLUS: 6,
  MINUS: 7,
  MULTIPLY: 8,
  DIVIDE: 9,
  MODULO: 10,
  EQ: 11,
  NE: 12,
  LT: 13,
  LE: 14,
  GT: 15,
  GE: 16,
  AND: 17,
  OR: 18,
  NOT: 19,
  IN: 20,
  LPAREN: 21,
  RPAREN: 22,
  LBRACKET: 23,
  RBRACKET: 24,
  LBRACE: 25,
  RBRACE: 26,
  DOT: 27,
  COMMA: 28,
  COLON: 29,
  QUESTION: 30,
  BYTES: 31
};
var OP_FOR_TOKEN = {
  [TOKEN.EQ]: OPERATORS["=="],
  [TOKEN.PLUS]: OPERATORS["+"],
  [TOKEN.MINUS]: OPERATORS["-"],
  [TOKEN.MULTIPLY]: OPERATORS["*"],
  [TOKEN.DIVIDE]: OPERATORS["/"],
  [TOKEN.MODULO]: OPERATORS["%"],
  [TOKEN.LE]: OPERATORS["<="],
  [TOKEN.LT]: OPERATORS["<"],
  [TOKEN.GE]: OPERATORS[">="],
  [TOKEN.GT]: OPERATORS[">"],
  [TOKEN.NE]: OPERATORS["!="],
  [TOKEN.IN]: OPERATORS["in"]
};
var TOKEN_BY_NUMBER = {};
for (const key in TOKEN) TOKEN_BY_NUMBER[TOKEN[key]] = key;
var HEX_CODES = new Uint8Array(128);
for (const ch of "0123456789abcdefABCDEF") HEX_CODES[ch.charCodeAt(0)] = 1;
var ESCAPE_ERRORS = {
  bytes_unicode_escape: (e) => `\\${e} not allowed in bytes literals`,
  invalid_unicode_escape: (e) => `Invalid Unicode escape: \\${e}`,
  invalid_unicode_surrogate: (e) => `Invalid Unicode surrogate: \\${e}`,
  invalid_hex_escape: (e) => `Invalid hex escape: \\${e}`,
  invalid_octal_escape: () => "Octal escape must be 3 digits",
  octal_escape_out_of_range: (e) => `Octal escape out of range: \\${e}`,
  invalid_escape_sequence: (e) => `Invalid escape sequence: \\${e}`
};
var STRING_ESCAPES = {
  "\\": "\\",
  "?": "?",
  '"': '"',
  "'": "'",
  "`": "`",
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "	",
  v: "\v"
};
var ASTNode = class _ASTNode {
  #meta;
  #input;
  constructor(input, pos, start, end, op, args) {
    this.#meta = { check: op.check, evaluate: op.evaluate };
    this.#input = input;
    this.op = op.name;
    this.args = args;
    this.pos = pos;
    this.start = start;
    this.end = end;
  }
  clone(op, args) {
    return new _ASTNode(this.#input, this.pos, this.start, this.end, op, args);
  }
  get meta() {
    return this.#meta;
  }
  get input() {
    return this.#input;
  }
  #computeIsAsync() {
    const ast = this.#meta.alternate ?? this;
    switch (ast.op) {
      case "value":
      case "id":
      case "accuValue":
      case "accuInc":
        return false;
      case "accuPush":
        return ast.args.maybeAsync;
      case "!_":
      case "-_":
        if (ast.candidates?.async !== false) return true;
        return ast.args.maybeAsync;
      case "!=":
      case "==":
      case "in":
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
      case "<":
      case "<=":
      case ">":
      case ">=":
        if (ast.candidates?.async !== false) return true;
        return ast.args.some((a) => a.maybeAsync);
      case "call":
      case "rcall":
        if (ast.candidates?.async !== false) return true;
        return (ast.receiverWithArgs || ast.args[1]).some((a) => a.maybeAsync);
      case "comprehension":
        return ast.args.iterable.maybeAsync || ast.args.step.maybeAsync;
      case ".":
      case ".?":
        return ast.args[0].maybeAsync;
      case "?:":
      case "list":
      case "[]":
      case "[?]":
        return ast.args.some((a) => a.maybeAsync);
      case "||":
      case "&&":
        return ast.args.some((a) => a.maybeAsync);
      case "map":
        return ast.args.some((a) => a[0].maybeAsync || a[1].maybeAsync);
      default:
        return true;
    }
  }
  /**
   * Check whether we can optimize away async calling
   * If no ast members includes a function, we can optimize the call
   * for which we want to return true here.
   * @returns {boolean}
   */
  get maybeAsync() {
    return this.#meta.async ??= this.#computeIsAsync();
  }
  check(chk, ast, ctx) {
    const meta = this.#meta;
    if (meta.alternate) return chk.check(meta.alternate, ctx);
    else if (meta.macro) return meta.macro.typeCheck(chk, meta.macro, ctx);
    return meta.check(chk, ast, ctx);
  }
  evaluate(ev, ast, ctx) {
    const meta = this.#meta;
    if (meta.alternate) this.evaluate = this.#evaluateAlternate;
    else if (meta.macro) this.evaluate = this.#evaluateMacro;
    else this.evaluate = meta.evaluate;
    return this.evaluate(ev, ast, ctx);
  }
  #evaluateAlternate(ev, ast, ctx) {
    return (ast = this.#meta.alternate).evaluate(ev, ast, ctx);
  }
  #evaluateMacro(ev, ast, ctx) {
    return (ast = this.#meta.macro).evaluate(ev, ast, ctx);
  }
  setMeta(key, value) {
    return this.#meta[key] = value, this;
  }
  get range() {
    return { start: this.start, end: this.end };
  }
  toOldStructure() {
    const args = Array.isArray(this.args) ? this.args : [this.args];
    return [this.op, ...args.map((a) => a instanceof _ASTNode ? a.toOldStructure() : a)];
  }
};
var Lexer = class {
  input;
  pos;
  length;
  tokenPos;
  tokenType;
  tokenValue;
  reset(input) {
    this.pos = 0;
    this.input = input;
    this.length = input.length;
    return input;
  }
  token(pos, type3, value) {
    this.tokenPos = pos;
    this.tokenType = type3;
    this.tokenValue = value;
    return this;
  }
  // Read next token
  nextToken() {
    while (true) {
      const { pos, input, length } = this;
      if (pos >= length) return this.token(pos, TOKEN.EOF);
      const ch = input[pos];
      switch (ch) {
        // Whitespaces
        case " ":
        case "	":
        case "\n":
        case "\r":
          this.pos++;
          continue;
        // Operators
        case "=":
          if (input[pos + 1] !== "=") break;
          return this.token((this.pos += 2) - 2, TOKEN.EQ);
        case "&":
          if (input[pos + 1] !== "&") break;
          return this.token((this.pos += 2) - 2, TOKEN.AND);
        case "|":
          if (input[pos + 1] !== "|") break;
          return this.token((this.pos += 2) - 2, TOKEN.OR);
        case "+":
          return this.token(this.pos++, TOKEN.PLUS);
        case "-":
          return this.token(this.pos++, TOKEN.MINUS);
        case "*":
          return this.token(this.pos++, TOKEN.MULTIPLY);
        case "/":
          if (input[pos + 1] === "/") {
            while (this.pos < length && this.input[this.pos] !== "\n") this.pos++;
            continue;
          }
          return this.token(this.pos++, TOKEN.DIVIDE);
        case "%":
          return this.token(this.pos++, TOKEN.MODULO);
        case "<":
          if (input[pos + 1] === "=") return this.token((this.pos += 2) - 2, TOKEN.LE);
          return this.token(this.pos++, TOKEN.LT);
        case ">":
          if (input[pos + 1] === "=") return this.token((this.pos += 2) - 2, TOKEN.GE);
          return this.token(this.pos++, TOKEN.GT);
        case "!":
          if (input[pos + 1] === "=") return this.token((this.pos += 2) - 2, TOKEN.NE);
          return this.token(this.pos++, TOKEN.NOT);
        case "(":
          return this.token(this.pos++, TOKEN.LPAREN);
        case ")":
          return this.token(this.pos++, TOKEN.RPAREN);
        case "[":
          return this.token(this.pos++, TOKEN.LBRACKET);
        case "]":
          return this.token(this.pos++, TOKEN.RBRACKET);
        case "{":
          return this.token(this.pos++, TOKEN.LBRACE);
        case "}":
          return this.token(this.pos++, TOKEN.RBRACE);
        case ".":
          return this.token(this.pos++, TOKEN.DOT);
        case ",":
          return this.token(this.pos++, TOKEN.COMMA);
        case ":":
          return this.token(this.pos++, TOKEN.COLON);
        case "?":
          return this.token(this.pos++, TOKEN.QUESTION);
        case `"`:
        case `'`:
          return this.readString(ch);
        // Check for string prefixes (b, B, r, R followed by quote)
        case "b":
        case "B":
        case "r":
        case "R": {
          const next = input[pos + 1];
          if (next === '"' || next === "'") return ++this.pos && this.readString(next, ch);
          return this.readIdentifier();
        }
        default: {
          const code = ch.charCodeAt(0);
          if (code <= 57 && code >= 48) return this.readNumber();
          if (this._isIdentifierCharCode(code)) return this.readIdentifier();
        }
      }
      throw parseError("unexpected_character", `Unexpected character: ${ch}`, {
        pos,
        start: pos,
        end: pos + 1,
        input
      });
    }
  }
  // Characters: 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_
  _isIdentifierCharCode(c2) {
    if (c2 < 48 || c2 > 122) return false;
    return c2 >= 97 || c2 >= 65 && c2 <= 90 || c2 <= 57 || c2 === 95;
  }
  _parseAsDouble(start, end) {
    const value = Number(this.input.substring(start, end));
    if (Number.isFinite(value)) return this.token(start, TOKEN.NUMBER, value);
    throw parseError("invalid_number", `Invalid number: ${value}`, {
      pos: start,
      start,
      end,
      input: this.input
    });
  }
  _parseAsBigInt(start, end, isHex, unsigned) {
    const string = this.input.substring(start, end);
    if (unsigned === "u" || unsigned === "U") {
      this.pos++;
      try {
        return this.token(start, TOKEN.NUMBER, new UnsignedInt(string));
      } catch (_err) {
      }
    } else {
      try {
        return this.token(start, TOKEN.NUMBER, BigInt(string));
      } catch (_err) {
      }
    }
    throw parseError(
      isHex ? "invalid_hex_integer" : "invalid_integer",
      isHex ? `Invalid hex integer: ${string}` : `Invalid integer: ${string}`,
      { pos: start, start, end: this.pos, input: this.input }
    );
  }
  _readDigits(input, length, pos, code) {
    while (pos < length && (code = input.charCodeAt(pos)) && !(code > 57 || code < 48)) pos++;
    return pos;
  }
  _readExponent(input, length, pos) {
    let ch = pos < length && input[pos];
    if (ch === "e" || ch === "E") {
      ch = ++pos < length && input[pos];
      if (ch === "-" || ch === "+") pos++;
      const start = pos;
      pos = this._readDigits(input, length, pos);
      if (start === pos)
        throw parseError("invalid_exponent", "Invalid exponent", {
          pos,
          start: pos,
          end: Math.min(pos + 1, input.length),
          input
        });
    }
    return pos;
  }
  readNumber() {
    const { input, length, pos: start } = this;
    let pos = start;
    if (input[pos] === "0" && (input[pos + 1] === "x" || input[pos + 1] === "X")) {
      pos += 2;
      while (pos < length && HEX_CODES[input[pos].charCodeAt(0)]) pos++;
      return this._parseAsBigInt(start, this.pos = pos, true, input[pos]);
    }
    pos = this._readDigits(input, length, pos);
    if (pos + 1 < length) {
      let isDouble = false;
      let afterpos = input[pos] === "." ? this._readDigits(input, length, pos + 1) : pos + 1;
      if (afterpos !== pos + 1) (isDouble = true) && (pos = afterpos);
      afterpos = this._readExponent(input, length, pos);
      if (afterpos !== pos) (isDouble = true) && (pos = afterpos);
      if (isDouble) return this._parseAsDouble(start, this.pos = pos);
    }
    return this._parseAsBigInt(start, this.pos = pos, false, input[pos]);
  }
  readString(del, prefix2) {
    const { input: i2, pos: s } = this;
    if (i2[s + 1] === del && i2[s + 2] === del) return this.readTripleQuotedString(del, prefix2);
    return this.readSingleQuotedString(del, prefix2);
  }
  _closeQuotedString(rawStart, rawValue, prefix2, pos) {
    switch (prefix2) {
      case "b":
      case "B": {
        const processed = this.processEscapes(rawStart, rawValue, true);
        const bytes2 = new Uint8Array(processed.length);
        for (let i2 = 0; i2 < processed.length; i2++) bytes2[i2] = processed.charCodeAt(i2) & 255;
        return this.token(pos - 1, TOKEN.BYTES, bytes2);
      }
      case "r":
      case "R": {
        return this.token(pos - 1, TOKEN.STRING, rawValue);
      }
      default: {
        const value = this.processEscapes(rawStart, rawValue, false);
        return this.token(pos, TOKEN.STRING, value);
      }
    }
  }
  readSingleQuotedString(delimiter3, prefix2) {
    const { input, length, pos: start } = this;
    let ch;
    let pos = this.pos + 1;
    while (pos < length && (ch = input[pos])) {
      switch (ch) {
        case delimiter3:
          const rawStart = start + 1;
          const rawValue = input.slice(rawStart, pos);
          this.pos = ++pos;
          return this._closeQuotedString(rawStart, rawValue, prefix2, start);
        case "\n":
        case "\r":
          throw parseError("newline_in_string", "Newlines not allowed in single-quoted strings", {
            pos,
            start: pos,
            end: pos + 1,
            input
          });
        case "\\":
          pos++;
      }
      pos++;
    }
    throw parseError("unterminated_string", "Unterminated string", {
      pos: start,
      start,
      end: input.length,
      input
    });
  }
  readTripleQuotedString(delimiter3, prefix2) {
    const { input, length, pos: start } = this;
    let ch;
    let pos = this.pos + 3;
    while (pos < length && (ch = input[pos])) {
      switch (ch) {
        case delimiter3:
          if (input[pos + 1] === delimiter3 && input[pos + 2] === delimiter3) {
            const rawStart = start + 3;
            const rawValue = input.slice(rawStart, pos);
            this.pos = pos + 3;
            return this._closeQuotedString(rawStart, rawValue, prefix2, start);
          }
          break;
        case "\\":
          pos++;
      }
      pos++;
    }
    throw parseError("unterminated_triple_quoted_string", "Unterminated triple-quoted string", {
      pos: start,
      start,
      end: input.length,
      input
    });
  }
  #escapeErr(code, offset, len, i2, chars, extra) {
    const start = offset + i2;
    return parseError(code, ESCAPE_ERRORS[code](extra), {
      input: this.input,
      pos: start,
      start,
      end: Math.min(start + chars, offset + len)
    });
  }
  processEscapes(offset, str, isBytes) {
    if (!str.includes("\\")) return str;
    const len = str.length;
    let result = "";
    let i2 = 0;
    while (i2 < len) {
      if (str[i2] !== "\\" || i2 + 1 >= len) {
        result += str[i2++];
        continue;
      }
      const next = str[i2 + 1];
      if (STRING_ESCAPES[next]) {
        result += STRING_ESCAPES[next];
        i2 += 2;
      } else if (next === "u" || next === "U") {
        if (isBytes) throw this.#escapeErr("bytes_unicode_escape", offset, len, i2, 2, next);
        const hexLen = next === "u" ? 4 : 8;
        const hex2 = str.substring(i2 + 2, i2 + 2 + hexLen);
        const c2 = Number.parseInt(hex2, 16);
        if (hex2.length !== hexLen || !/^[0-9a-fA-F]+$/.test(hex2) || c2 > 1114111)
          throw this.#escapeErr("invalid_unicode_escape", offset, len, i2, 2 + hexLen, next + hex2);
        if (c2 >= 55296 && c2 <= 57343)
          throw this.#escapeErr("invalid_unicode_surrogate", offset, len, i2, 2 + hexLen, next + hex2);
        result += String.fromCodePoint(c2);
        i2 += 2 + hexLen;
      } else if (next === "x" || next === "X") {
        const h2 = str.substring(i2 + 2, i2 + 4);
        if (!/^[0-9a-fA-F]{2}$/.test(h2))
          throw this.#escapeErr("invalid_hex_escape", offset, len, i2, 4, next + h2);
        result += String.fromCharCode(Number.parseInt(h2, 16));
        i2 += 4;
      } else if (next >= "0" && next <= "7") {
        const o2 = str.substring(i2 + 1, i2 + 4);
        if (!/^[0-7]{3}$/.test(o2)) throw this.#escapeErr("invalid_octal_escape", offset, len, i2, 4);
        const value = Number.parseInt(o2, 8);
        if (value > 255) throw this.#escapeErr("octal_escape_out_of_range", offset, len, i2, 4, o2);
        result += String.fromCharCode(value);
        i2 += 4;
      } else {
        throw this.#escapeErr("invalid_escape_sequence", offset, len, i2, 2, next);
      }
    }
    return result;
  }
  readIdentifier() {
    const { pos, input, length } = this;
    let p = pos;
    while (p < length && this._isIdentifierCharCode(input[p].charCodeAt(0))) p++;
    const value = input.substring(pos, this.pos = p);
    switch (value) {
      case "true":
        return this.token(pos, TOKEN.BOOLEAN, true);
      case "false":
        return this.token(pos, TOKEN.BOOLEAN, false);
      case "null":
        return this.token(pos, TOKEN.NULL, null);
      case "in":
        return this.token(pos, TOKEN.IN);
      default:
        return this.token(pos, TOKEN.IDENTIFIER, value);
    }
  }
};
var globalLexer = new Lexer();
var Parser = class {
  lexer = globalLexer;
  input = null;
  maxDepthRemaining = null;
  astNodesRemaining = null;
  type = null;
  pos = null;
  constructor(limits, registry) {
    this.limits = limits;
    this.registry = registry;
  }
  #limitExceeded(limitKey, pos = this.pos) {
    throw parseError("limit_exceeded", `Exceeded ${limitKey} (${this.limits[limitKey]})`, {
      pos,
      start: pos,
      end: pos,
      input: this.input
    });
  }
  #node(start, end, op, args, pos = start) {
    const node2 = new ASTNode(this.input, pos, start, end, op, args);
    if (!this.astNodesRemaining--) this.#limitExceeded("maxAstNodes", pos);
    return node2;
  }
  #infixNode(op, left, right) {
    return this.#node(left.start, right.end, op, [left, right]);
  }
  #ternaryNode(expression, consequent, alternate) {
    return this.#node(expression.start, alternate.end, OPERATORS.ternary, [
      expression,
      consequent,
      alternate
    ]);
  }
  #unaryNode(pos, op, arg) {
    return this.#node(pos, arg.end, op, arg);
  }
  #accessNode(op, left, right, end, pos = left.start) {
    return this.#node(left.start, end, op, [left, right], pos);
  }
  #advanceToken(returnValue = this.pos) {
    const l = this.lexer.nextToken();
    this.pos = l.tokenPos;
    this.type = l.tokenType;
    return returnValue;
  }
  // The value of the current token is accessed less regularly,
  // so we use a getter to reduce assignment overhead
  get value() {
    return this.lexer.tokenValue;
  }
  consume(expectedType) {
    if (this.type === expectedType) return this.#advanceToken();
    throw parseError(
      "expected_token",
      `Expected ${TOKEN_BY_NUMBER[expectedType]}, got ${TOKEN_BY_NUMBER[this.type]}`,
      { pos: this.pos, start: this.pos, end: this.lexer.pos, input: this.input }
    );
  }
  match(type3) {
    return this.type === type3;
  }
  // Parse entry point
  parse(input) {
    if (typeof input !== "string") {
      throw parseError("expression_must_be_string", "Expression must be a string");
    }
    this.input = this.lexer.reset(input);
    this.#advanceToken();
    this.maxDepthRemaining = this.limits.maxDepth;
    this.astNodesRemaining = this.limits.maxAstNodes;
    const result = this.parseExpression();
    if (this.match(TOKEN.EOF)) return result;
    throw parseError(
      "unexpected_character",
      `Unexpected character: '${this.input[this.lexer.pos - 1]}'`,
      {
        pos: this.pos,
        start: this.pos,
        end: this.lexer.pos,
        input: this.input
      }
    );
  }
  #expandMacro(start, end, op, args) {
    const methodName = args[0];
    const receiver = op === OPERATORS.rcall ? args[1] : null;
    const fnArgs = op === OPERATORS.rcall ? args[2] : args[1];
    const decl = this.registry.findMacro(methodName, !!receiver, fnArgs.length);
    const ast = this.#node(start, end, op, args);
    if (!decl) return ast;
    const macro = decl.handler({ ast, args: fnArgs, receiver, methodName, parser: this });
    if (macro.callAst) return ast.setMeta("alternate", macro.callAst);
    return ast.setMeta("macro", macro).setMeta("async", isAsync(macro.evaluate, macro.async));
  }
  // Expression ::= LogicalOr ('?' Expression ':' Expression)?
  parseExpression() {
    if (!this.maxDepthRemaining--) this.#limitExceeded("maxDepth");
    const expr = this.parseLogicalOr();
    if (!this.match(TOKEN.QUESTION)) return ++this.maxDepthRemaining && expr;
    this.#advanceToken();
    const consequent = this.parseExpression();
    this.consume(TOKEN.COLON);
    const alternate = this.parseExpression();
    this.maxDepthRemaining++;
    return this.#ternaryNode(expr, consequent, alternate);
  }
  // LogicalOr ::= LogicalAnd ('||' LogicalAnd)*
  parseLogicalOr() {
    let expr = this.parseLogicalAnd();
    while (this.match(TOKEN.OR)) {
      this.#advanceToken();
      expr = this.#infixNode(OPERATORS["||"], expr, this.parseLogicalAnd());
    }
    return expr;
  }
  // LogicalAnd ::= Equality ('&&' Equality)*
  parseLogicalAnd() {
    let expr = this.parseEquality();
    while (this.match(TOKEN.AND)) {
      this.#advanceToken();
      expr = this.#infixNode(OPERATORS["&&"], expr, this.parseEquality());
    }
    return expr;
  }
  // Equality ::= Relational (('==' | '!=') Relational)*
  parseEquality() {
    let expr = this.parseRelational();
    while (this.match(TOKEN.EQ) || this.match(TOKEN.NE)) {
      const op = OP_FOR_TOKEN[this.type];
      this.#advanceToken();
      expr = this.#infixNode(op, expr, this.parseRelational());
    }
    return expr;
  }
  // Relational ::= Additive (('<' | '<=' | '>' | '>=' | 'in') Additive)*
  parseRelational() {
    let expr = this.parseAdditive();
    while (this.match(TOKEN.LT) || this.match(TOKEN.LE) || this.match(TOKEN.GT) || this.match(TOKEN.GE) || this.match(TOKEN.IN)) {
      const op = OP_FOR_TOKEN[this.type];
      this.#advanceToken();
      expr = this.#infixNode(op, expr, this.parseAdditive());
    }
    return expr;
  }
  // Additive ::= Multiplicative (('+' | '-') Multiplicative)*
  parseAdditive() {
    let expr = this.parseMultiplicative();
    while (this.match(TOKEN.PLUS) || this.match(TOKEN.MINUS)) {
      const op = OP_FOR_TOKEN[this.type];
      this.#advanceToken();
      expr = this.#infixNode(op, expr, this.parseMultiplicative());
    }
    return expr;
  }
  // Multiplicative ::= Unary (('*' | '/' | '%') Unary)*
  parseMultiplicative() {
    let expr = this.parseUnary();
    while (this.match(TOKEN.MULTIPLY) || this.match(TOKEN.DIVIDE) || this.match(TOKEN.MODULO)) {
      const op = OP_FOR_TOKEN[this.type];
      this.#advanceToken();
      expr = this.#infixNode(op, expr, this.parseUnary());
    }
    return expr;
  }
  // Unary ::= ('!' | '-')* Postfix
  parseUnary() {
    if (this.type === TOKEN.NOT) {
      return this.#unaryNode(this.#advanceToken(), OPERATORS.unaryNot, this.parseUnary());
    }
    if (this.type === TOKEN.MINUS) {
      return this.#unaryNode(this.#advanceToken(), OPERATORS.unaryMinus, this.parseUnary());
    }
    return this.parsePostfix();
  }
  // Postfix ::= Primary (('.' IDENTIFIER ('(' ArgumentList ')')? | '[' Expression ']'))*
  parsePostfix() {
    let expr = this.parsePrimary();
    const depth = this.maxDepthRemaining;
    while (true) {
      if (this.match(TOKEN.DOT)) {
        const dot = this.#advanceToken();
        if (!this.maxDepthRemaining--) this.#limitExceeded("maxDepth", dot);
        const op = this.match(TOKEN.QUESTION) && this.registry.enableOptionalTypes && this.#advanceToken() ? OPERATORS.optionalFieldAccess : OPERATORS.fieldAccess;
        const propertyValue = this.value;
        const start = this.pos;
        const end = this.lexer.pos;
        this.consume(TOKEN.IDENTIFIER);
        if (op === OPERATORS.fieldAccess && this.match(TOKEN.LPAREN) && this.#advanceToken()) {
          const args = this.parseArgumentList();
          const closeEnd = this.lexer.pos;
          this.consume(TOKEN.RPAREN);
          expr = this.#expandMacro(expr.start, closeEnd, OPERATORS.rcall, [propertyValue, expr, args]);
        } else {
          expr = this.#accessNode(op, expr, propertyValue, end, start);
        }
        continue;
      }
      if (this.match(TOKEN.LBRACKET)) {
        const bracket = this.#advanceToken();
        if (!this.maxDepthRemaining--) this.#limitExceeded("maxDepth", bracket);
        const op = this.match(TOKEN.QUESTION) && this.registry.enableOptionalTypes && this.#advanceToken() ? OPERATORS.optionalBracketAccess : OPERATORS.bracketAccess;
        const index2 = this.parseExpression();
        const closeEnd = this.lexer.pos;
        this.consume(TOKEN.RBRACKET);
        expr = this.#accessNode(op, expr, index2, closeEnd);
        continue;
      }
      break;
    }
    this.maxDepthRemaining = depth;
    return expr;
  }
  // Primary ::= NUMBER | STRING | BOOLEAN | NULL | IDENTIFIER | '(' Expression ')' | Array | Object
  parsePrimary() {
    switch (this.type) {
      case TOKEN.NUMBER:
      case TOKEN.STRING:
      case TOKEN.BYTES:
      case TOKEN.BOOLEAN:
      case TOKEN.NULL:
        return this.#consumeLiteral();
      case TOKEN.IDENTIFIER:
        return this.#parseIdentifierPrimary();
      case TOKEN.LPAREN:
        return this.#parseParenthesizedExpression();
      case TOKEN.LBRACKET:
        return this.parseList();
      case TOKEN.LBRACE:
        return this.parseMap();
    }
    throw parseError("unexpected_token", `Unexpected token: ${TOKEN_BY_NUMBER[this.type]}`, {
      pos: this.pos,
      start: this.pos,
      end: this.lexer.pos,
      input: this.input
    });
  }
  #consumeLiteral() {
    return this.#advanceToken(this.#node(this.pos, this.lexer.pos, OPERATORS.value, this.value));
  }
  #parseIdentifierPrimary() {
    const value = this.value;
    const end = this.lexer.pos;
    const start = this.consume(TOKEN.IDENTIFIER);
    if (RESERVED.has(value)) {
      throw parseError("reserved_identifier", `Reserved identifier: ${value}`, {
        pos: start,
        start,
        end,
        input: this.input
      });
    }
    if (!this.match(TOKEN.LPAREN)) return this.#node(start, end, OPERATORS.id, value);
    this.#advanceToken();
    const args = this.parseArgumentList();
    const closeEnd = this.lexer.pos;
    this.consume(TOKEN.RPAREN);
    return this.#expandMacro(start, closeEnd, OPERATORS.call, [value, args]);
  }
  #parseParenthesizedExpression() {
    this.consume(TOKEN.LPAREN);
    const expr = this.parseExpression();
    this.consume(TOKEN.RPAREN);
    return expr;
  }
  parseList() {
    const start = this.consume(TOKEN.LBRACKET);
    const elements = [];
    let remainingElements = this.limits.maxListElements;
    if (!this.match(TOKEN.RBRACKET)) {
      elements.push(this.parseExpression());
      if (!remainingElements--) this.#limitExceeded("maxListElements", elements.at(-1).pos);
      while (this.match(TOKEN.COMMA)) {
        this.#advanceToken();
        if (this.match(TOKEN.RBRACKET)) break;
        elements.push(this.parseExpression());
        if (!remainingElements--) this.#limitExceeded("maxListElements", elements.at(-1).pos);
      }
    }
    const closeEnd = this.lexer.pos;
    this.consume(TOKEN.RBRACKET);
    return this.#node(start, closeEnd, OPERATORS.list, elements);
  }
  parseMap() {
    const start = this.consume(TOKEN.LBRACE);
    const props = [];
    let remainingEntries = this.limits.maxMapEntries;
    if (!this.match(TOKEN.RBRACE)) {
      props.push(this.parseProperty());
      if (!remainingEntries--) this.#limitExceeded("maxMapEntries", props.at(-1)[0].pos);
      while (this.match(TOKEN.COMMA)) {
        this.#advanceToken();
        if (this.match(TOKEN.RBRACE)) break;
        props.push(this.parseProperty());
        if (!remainingEntries--) this.#limitExceeded("maxMapEntries", props.at(-1)[0].pos);
      }
    }
    const closeEnd = this.lexer.pos;
    this.consume(TOKEN.RBRACE);
    return this.#node(start, closeEnd, OPERATORS.map, props);
  }
  parseProperty() {
    return [this.parseExpression(), (this.consume(TOKEN.COLON), this.parseExpression())];
  }
  parseArgumentList() {
    const args = [];
    let remainingArgs = this.limits.maxCallArguments;
    if (!this.match(TOKEN.RPAREN)) {
      args.push(this.parseExpression());
      if (!remainingArgs--) this.#limitExceeded("maxCallArguments", args.at(-1).pos);
      while (this.match(TOKEN.COMMA)) {
        this.#advanceToken();
        if (this.match(TOKEN.RPAREN)) break;
        args.push(this.parseExpression());
        if (!remainingArgs--) this.#limitExceeded("maxCallArguments", args.at(-1).pos);
      }
    }
    return args;
  }
};

// ../../main/node_modules/@marcbachmann/cel-js/lib/options.js
var DEFAULT_LIMITS = objFreeze({
  maxAstNodes: 1e5,
  maxDepth: 250,
  maxListElements: 1e3,
  maxMapEntries: 1e3,
  maxCallArguments: 32
});
var LIMIT_KEYS = new Set(objKeys(DEFAULT_LIMITS));
function createLimits(overrides, base = DEFAULT_LIMITS) {
  const keys2 = overrides ? objKeys(overrides) : void 0;
  if (!keys2?.length) return base;
  const merged = { ...base };
  for (const key of keys2) {
    if (!LIMIT_KEYS.has(key)) throw new TypeError(`Unknown limits option: ${key}`);
    const value = overrides[key];
    if (typeof value !== "number") continue;
    merged[key] = value;
  }
  return objFreeze(merged);
}
var DEFAULT_OPTIONS2 = objFreeze({
  unlistedVariablesAreDyn: false,
  homogeneousAggregateLiterals: true,
  enableOptionalTypes: false,
  limits: DEFAULT_LIMITS
});
function bool(a, b2, key) {
  const value = a?.[key] ?? b2?.[key];
  if (typeof value !== "boolean") throw new TypeError(`Invalid option: ${key}`);
  return value;
}
function createOptions(opts, base = DEFAULT_OPTIONS2) {
  if (!opts) return base;
  return objFreeze({
    unlistedVariablesAreDyn: bool(opts, base, "unlistedVariablesAreDyn"),
    homogeneousAggregateLiterals: bool(opts, base, "homogeneousAggregateLiterals"),
    enableOptionalTypes: bool(opts, base, "enableOptionalTypes"),
    limits: createLimits(opts.limits, base.limits)
  });
}

// ../../main/node_modules/@marcbachmann/cel-js/lib/evaluator.js
var globalRegistry = createRegistry({ enableOptionalTypes: false });
registerFunctions(globalRegistry);
registerOverloads(globalRegistry);
registerMacros(globalRegistry);
var Environment = class _Environment {
  #registry;
  #evaluator;
  #typeChecker;
  #evalTypeChecker;
  #parser;
  constructor(opts, inherited) {
    this.opts = createOptions(opts, inherited?.opts);
    this.#registry = (inherited instanceof _Environment ? inherited.#registry : globalRegistry).clone(this.opts);
    const childOpts = { registry: this.#registry, opts: this.opts };
    this.#typeChecker = new TypeChecker(childOpts);
    this.#evalTypeChecker = new TypeChecker(childOpts, true);
    this.#evaluator = new Evaluator(childOpts);
    this.#parser = new Parser(this.opts.limits, this.#registry);
    Object.freeze(this);
  }
  clone(opts) {
    return new _Environment(opts, this);
  }
  registerFunction(signature, handler, opts) {
    this.#registry.registerFunctionOverload(signature, handler, opts);
    return this;
  }
  registerOperator(string, handler, opts) {
    this.#registry.registerOperatorOverload(string, handler, opts);
    return this;
  }
  registerType(typename, constructor) {
    this.#registry.registerType(typename, constructor);
    return this;
  }
  registerVariable(name, type3, opts) {
    this.#registry.registerVariable(name, type3, opts);
    return this;
  }
  registerConstant(name, type3, value) {
    this.#registry.registerConstant(name, type3, value);
    return this;
  }
  hasVariable(name) {
    return this.#registry.variables.has(name);
  }
  getDefinitions() {
    return this.#registry.getDefinitions();
  }
  check(expression) {
    try {
      return this.#checkAST(this.#parser.parse(expression));
    } catch (error) {
      return { valid: false, error };
    }
  }
  #checkAST(ast) {
    try {
      const typeDecl = this.#typeChecker.check(ast, new RootContext(this.#registry));
      return { valid: true, type: this.#formatTypeForCheck(typeDecl) };
    } catch (error) {
      return { valid: false, error };
    }
  }
  #formatTypeForCheck(typeDecl) {
    if (typeDecl.name === `list<dyn>`) return "list";
    if (typeDecl.name === `map<dyn, dyn>`) return "map";
    return typeDecl.name;
  }
  parse(expression) {
    const ast = this.#parser.parse(expression);
    const evaluateParsed = this.#evaluateAST.bind(this, ast);
    evaluateParsed.check = this.#checkAST.bind(this, ast);
    evaluateParsed.ast = ast;
    return evaluateParsed;
  }
  evaluate(expression, context) {
    return this.#evaluateAST(this.#parser.parse(expression), context);
  }
  #evaluateAST(ast, ctx) {
    if (ast.checkedType) {
      return ast.evaluate(this.#evaluator, ast, new RootContext(this.#registry, ctx));
    } else {
      this.#evalTypeChecker.check(ast, ctx = new RootContext(this.#registry, ctx));
      return ast.evaluate(this.#evaluator, ast, ctx);
    }
  }
};
var Evaluator = class extends Base {
  constructor(opts) {
    super(opts);
    this.createError = evaluationError;
  }
  #firstMapElement(coll) {
    if (coll instanceof Map) return coll.entries().next().value;
    for (const key in coll) return [key, coll[key]];
  }
  debugRuntimeType(value, checkedType) {
    return checkedType?.hasDynType === false ? checkedType : this.debugTypeDeep(value);
  }
  debugTypeDeep(value) {
    const runtimeType = this.debugType(value);
    switch (runtimeType.kind) {
      case "list": {
        const first = value instanceof Array ? value[0] : value.values().next().value;
        if (first === void 0) return runtimeType;
        return this.registry.getListType(this.debugTypeDeep(first));
      }
      case "map": {
        const first = this.#firstMapElement(value);
        if (!first) return runtimeType;
        return this.registry.getMapType(
          runtimeType.keyType.hasDynType ? this.debugTypeDeep(first[0]) : runtimeType.keyType,
          runtimeType.valueType.hasDynType ? this.debugTypeDeep(first[1]) : runtimeType.valueType
        );
      }
      default:
        return runtimeType;
    }
  }
  tryEval(ast, ctx) {
    try {
      const res = this.run(ast, ctx);
      if (res instanceof Promise) return res.catch((err) => err);
      return res;
    } catch (err) {
      return err;
    }
  }
  run(ast, ctx) {
    return ast.evaluate(this, ast, ctx);
  }
};
var globalEnvironment = new Environment({
  unlistedVariablesAreDyn: true
});

// src/api/schema.ts
function celName(property) {
  return property.replaceAll("__", "__underscores__").replaceAll("-", "__dash__");
}

// src/api/cel.ts
var Quantity = class {
  thousandths;
  constructor(amount) {
    this.thousandths = amount;
  }
};
var environment = new Environment().registerVariable("self", "dyn").registerVariable("oldSelf", "dyn").registerType("Quantity", Quantity).registerFunction("quantity(string): Quantity", (text2) => new Quantity(thousandths(text2))).registerFunction(
  "Quantity.compareTo(Quantity): int",
  (a, b2) => a.thousandths < b2.thousandths ? -1n : a.thousandths > b2.thousandths ? 1n : 0n
).registerFunction(
  "string.findAll(string): list<string>",
  (text2, pattern) => (text2.match(new RegExp(pattern, "gu")) ?? []).map(String)
).registerFunction(
  "string.replace(string, string): string",
  (text2, from, to) => text2.replaceAll(from, to)
);
var parsed = /* @__PURE__ */ new Map();
function evaluate2(rule, context) {
  let run2 = parsed.get(rule);
  if (run2 === void 0) {
    run2 = environment.parse(rule);
    parsed.set(rule, run2);
  }
  return run2(context);
}
function messageOf({ message, messageExpression }, context) {
  if (messageExpression === void 0) return message;
  try {
    const said = evaluate2(messageExpression, context);
    return typeof said === "string" && said.trim() !== "" ? said : message;
  } catch {
    return message;
  }
}
function celValue(schema, value) {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === void 0 ? value : value.map((item) => celValue(items, item));
  }
  if (typeof value === "object" && value !== null) {
    return new Map(
      Object.entries(value).flatMap(([key, child]) => {
        const childSchema = schemaOfKey(schema, key);
        if (childSchema === void 0) return [];
        const name = schema.properties === void 0 ? key : celName(key);
        return [[name, celValue(childSchema, child)]];
      })
    );
  }
  const isInteger = schema.type === "integer" || schema["x-kubernetes-int-or-string"] === true;
  return isInteger && typeof value === "number" ? BigInt(value) : value;
}
var mentionsOldSelf = (rule) => /\boldSelf\b/.test(rule.rule);
function celViolations(schema, value, old, path = []) {
  const rules = schema["x-kubernetes-validations"] ?? [];
  const self = rules.length === 0 ? void 0 : celValue(schema, value);
  const own = rules.flatMap((rule) => {
    const isTransition = mentionsOldSelf(rule);
    if (isTransition && old === void 0) return [];
    const context = { self };
    if (isTransition) context.oldSelf = celValue(schema, old);
    const at = [...path, ...(rule.fieldPath ?? "").split(".").filter((part) => part !== "")];
    try {
      return evaluate2(rule.rule, context) === true ? [] : [{ path: at, rule, message: messageOf(rule, context) }];
    } catch (cause) {
      return [{ path: at, rule, message: rule.message, cause }];
    }
  });
  return [...own, ...brokenBelow(schema, value, old, path)];
}
function brokenBelow(schema, value, old, path) {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === void 0) return [];
    return value.flatMap((item, i2) => celViolations(items, item, void 0, [...path, i2]));
  }
  if (typeof value !== "object" || value === null) return [];
  const before = typeof old === "object" && old !== null ? old : {};
  return Object.entries(value).flatMap(([key, child]) => {
    const childSchema = schemaOfKey(schema, key);
    if (childSchema === void 0) return [];
    return celViolations(childSchema, child, Object.hasOwn(before, key) ? before[key] : void 0, [...path, key]);
  });
}

// src/api/observed-generation.ts
var never = -1;
var observedGenerationSchema = {
  type: "integer",
  format: "int64",
  description: "Generation of the spec that this status describes. -1: none yet.",
  minimum: never
};
var unobservedStatus = { observedGeneration: never };

// src/api/status-schema.ts
var text = (description, maxLength) => ({ type: "string", description, maxLength });
var count2 = (description) => ({ type: "integer", description, minimum: 0, maximum: 1e3 });
var generation = { type: "integer", format: "int64", minimum: 0 };
var conditions = {
  type: "array",
  description: "Conditions, for kubectl wait, Argo CD and Flux.",
  maxItems: 16,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: {
    type: "object",
    description: "One condition.",
    required: ["type", "status", "reason", "message", "lastTransitionTime"],
    properties: {
      type: {
        ...text("Type of the condition.", 316),
        pattern: "^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$"
      },
      status: { type: "string", description: "Status of the condition.", enum: ["True", "False", "Unknown"] },
      reason: {
        ...text("Reason for the status, for programs.", 1024),
        minLength: 1,
        pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
      },
      message: text("Explanation of the status, for people.", 32768),
      observedGeneration: { ...generation, description: "Generation of the spec that the condition describes." },
      lastTransitionTime: {
        type: "string",
        format: "date-time",
        description: "Time of the last change of the status."
      }
    }
  }
};
var members = {
  type: "array",
  description: "Processes of the cluster.",
  maxItems: 512,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  items: {
    type: "object",
    description: "One process.",
    required: ["name", "role", "ready"],
    properties: {
      name: text("Name of the pod.", 253),
      role: text("Current role, for example primary.", 63),
      ready: { type: "boolean", description: "Whether the pod is ready." },
      version: text("Version that the process runs.", 64),
      node: text("Kubernetes node of the pod.", 253),
      address: text("Address under which other members know the process.", 253),
      id: text("ID of the member in the database, if the database has one.", 63),
      shard: text("Shard of the process, if the database has several.", 63),
      slots: text("Hash slots that the process serves, if the database has them.", 1024),
      dataSize: text("Size of the database file, if the engine has one.", 20)
    }
  }
};
var connection = {
  type: "object",
  description: "How clients reach the cluster.",
  properties: {
    services: {
      type: "array",
      description: "Services of the cluster, by role.",
      maxItems: 16,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["role"],
      items: {
        type: "object",
        description: "One Service.",
        required: ["role", "host", "port"],
        properties: {
          role: text("Role of the members that the Service leads to.", 63),
          host: text("DNS name of the Service.", 253),
          port: { type: "integer", description: "Port of the Service.", minimum: 1, maximum: 65535 }
        }
      }
    },
    secretName: text("Secret with the password.", 253),
    certificateSecretName: text("Secret with ca.crt, tls.crt and tls.key for clients.", 253),
    caConfigMapName: text("ConfigMap with ca.crt, with which clients check servers.", 253)
  }
};
var bindingSchema = {
  type: "object",
  description: "For implementations of the Service Binding specification (servicebinding.io).",
  required: ["name"],
  properties: { name: text("Secret with what a workload needs to connect.", 253) }
};
var volumesSchema = (description, field) => ({
  type: "object",
  description,
  properties: {
    capacity: text("Capacity of the smallest volume.", 20),
    minimumSize: text(`Smallest value that ${field} can be lowered to.`, 20)
  }
});
var storage = volumesSchema("The volumes, as Kubernetes reports them.", "storage.size");
var walStorageStatusSchema = volumesSchema(
  "The volumes of the log, as Kubernetes reports them. Absent when the log has none.",
  "walStorage.size"
);
var archiveStatusSchema = {
  type: "object",
  description: "The archive of the log. Absent when the log is not archived.",
  required: ["state", "since"],
  properties: {
    state: {
      type: "string",
      description: "Gap: part of the log is missing, and the next base backup is not complete.",
      enum: ["Starting", "Following", "Late", "Gap"]
    },
    since: { type: "string", format: "date-time", description: "Time of the last change of the state." },
    end: text("End of the stored log, in the words of the database. Up to five minutes old.", 500),
    storedAt: { type: "string", format: "date-time", description: "Time at which that end was stored." },
    message: text("Why the state is not Following.", 8192)
  }
};
var plan = {
  type: "object",
  description: "What the controller does next.",
  properties: {
    next: text("The next step.", 8192),
    waitingFor: text("What the controller waits for.", 8192),
    blockedBy: text("Problem that the controller cannot solve without a person.", 8192)
  }
};
var phaseSchema = (phases) => ({ type: "string", description: "Phase, for people. Programs read the conditions.", enum: phases });
var statusSchema = {
  type: "object",
  description: "Last observed state. Only the controller writes it.",
  default: unobservedStatus,
  properties: {
    observedGeneration: observedGenerationSchema,
    phase: phaseSchema(["Creating", "Ready", "Updating", "Degraded", "Blocked", "Paused", "Deleting", "Invalid"]),
    conditions,
    replicas: count2("Number of pods that hold data."),
    readyReplicas: count2("Number of ready pods that hold data."),
    selector: text("Label selector of the pods that hold data, for the scale subresource.", 1024),
    primary: text("Pod of the primary or the leader.", 253),
    version: text("Version that the primary or the leader runs.", 64),
    members,
    connection,
    binding: bindingSchema,
    plan,
    storage,
    initialized: {
      type: "boolean",
      description: "Whether the database has been formed. From then on, an empty volume means data loss."
    }
  }
};

// src/api/backup-status.ts
var time = (description) => ({ type: "string", description, format: "date-time" });
var bytes = (description) => ({ type: "integer", format: "int64", description, minimum: 0 });
var resultProperties = {
  id: text(
    "Name of the backup in the target. It begins with the time, by the clock of the pod that took the backup.",
    100
  ),
  location: text("Path of the backup in the target.", 1024),
  engine: text("Name of the database engine.", 63),
  version: text("Version of the database.", 64),
  topology: text("Size of the cluster, for example 3 members.", 253),
  size: bytes("Size of the data in bytes."),
  storedSize: bytes("Size in bytes of the data as it is stored."),
  checksum: text("SHA-256 of the data, in hexadecimal digits.", 64),
  startedAt: time("When the backup began."),
  completedAt: time("When the agent had read the backup back and verified it."),
  durationSeconds: { type: "number", description: "Seconds from startedAt to completedAt.", minimum: 0 },
  contents: {
    type: "object",
    description: "What the database reported about its data. A drill compares it with the restored data.",
    maxProperties: 64,
    additionalProperties: text("A number or a hash.", 100)
  },
  suddenLoss: text("Why data loss is suspected, compared with an earlier backup.", 1024)
};
var run = (description) => ({
  type: "object",
  description,
  required: ["job", "outcome"],
  properties: {
    job: text("Name of the Job.", 253),
    outcome: { type: "string", description: "Result of the run.", enum: ["Verified", "Failed"] },
    message: text("Why the run failed, or what else to know about it.", 4096),
    ...resultProperties
  }
});
var backupStatusSchema = {
  type: "object",
  description: "Result of the backup. Only the controller writes it.",
  default: unobservedStatus,
  properties: {
    observedGeneration: observedGenerationSchema,
    phase: phaseSchema(["Pending", "Running", "Verified", "Failed", "Invalid", "Blocked"]),
    conditions,
    plan,
    ...resultProperties,
    job: text("Name of the Job that takes the backup.", 253),
    attempts: {
      type: "integer",
      description: "Number of Jobs that were created for the backup.",
      minimum: 0,
      maximum: 2
    }
  }
};
var scheduleStatusSchema = {
  type: "object",
  description: "Results of the last runs. Only the controller writes it.",
  default: unobservedStatus,
  properties: {
    observedGeneration: observedGenerationSchema,
    phase: phaseSchema(["Active", "Suspended", "Degraded", "Invalid", "Blocked"]),
    conditions,
    plan,
    lastScheduledAt: time("When the last run began."),
    resumedAt: time("When spec.suspend was last set to false. Runs that were due before are not overdue."),
    lastSuccess: run("The last run with a verified backup."),
    lastFailure: run("The last run that failed."),
    results: {
      type: "array",
      description: "The last runs, newest first.",
      maxItems: 10,
      "x-kubernetes-list-type": "atomic",
      items: run("One run.")
    }
  }
};

// src/api/type-message.ts
var names = {
  object: "an object",
  array: "a list",
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "a boolean",
  "integer or string": "an integer or a string"
};
function typeMessage(wanted, value) {
  const isBare = typeof value === "number" || typeof value === "boolean";
  const advice = wanted === "string" && isBare ? ": in YAML it takes quotes" : "";
  return `must be ${names[wanted]}, and is ${found(wanted, value)}${advice}`;
}
var longest = 40;
function found(wanted, value) {
  if (value === null || value === void 0) return "null";
  if (Array.isArray(value)) return names.array;
  switch (typeof value) {
    case "number":
    case "boolean":
      return `the ${typeof value} ${value}`;
    case "string": {
      const isShown = wanted !== "object" && wanted !== "array" && value.length <= longest;
      return isShown ? `the string ${JSON.stringify(value)}` : names.string;
    }
    default:
      return names.object;
  }
}

// src/api/violation.ts
function displayPath(path) {
  let text2 = "";
  for (const part of path) {
    if (typeof part === "number") text2 += `[${part}]`;
    else if (/^[A-Za-z0-9_-]+$/.test(part)) text2 += text2 === "" ? part : `.${part}`;
    else text2 += `[${part}]`;
  }
  return text2;
}

// src/api/metadata.ts
var maxNameLength = 40;
var namePattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
var objectNamePattern = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
var metadataSchema = {
  type: "object",
  properties: {
    name: {
      type: "string",
      description: "Name of the cluster: lower-case letters, digits and dashes, starting with a letter.",
      pattern: namePattern,
      maxLength: maxNameLength
    }
  }
};
var fields = /* @__PURE__ */ new Set([
  "annotations",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "finalizers",
  "generateName",
  "generation",
  "labels",
  "managedFields",
  "name",
  "namespace",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid"
]);
var labelName = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
var dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
var dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
var labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
function isQualifiedName(key) {
  const [first = "", second, ...rest] = key.split("/");
  if (second === void 0) return labelName.test(first);
  return rest.length === 0 && first.length <= 253 && dnsSubdomain.test(first) && labelName.test(second);
}
var annotationBytes = 256 * 1024;
function metadataViolations(metadata, strict) {
  if (!isRecord(metadata)) return [{ path: "metadata", rule: "required", message: "is required" }];
  const violations = [];
  const add = (path, rule, message) => {
    violations.push({ path: displayPath(["metadata", ...path]), rule, message });
  };
  if (metadata.name === void 0 || metadata.name === null || metadata.name === "") {
    add(["name"], "required", "is required");
  }
  const namespace = metadata.namespace ?? void 0;
  if (namespace !== void 0 && !(typeof namespace === "string" && dnsLabel.test(namespace))) {
    add(["namespace"], "DNS label", "must be the name of a namespace");
  }
  if (strict) {
    for (const key of Object.keys(metadata)) if (!fields.has(key)) add([key], "known field", "unknown field");
  }
  for (const [key, value] of textEntries(metadata.labels, "labels", add)) {
    if (!isQualifiedName(key)) add(["labels", key], "label name", "is no label name");
    if (!labelValue.test(value)) add(["labels", key], "label value", "must be a label value of at most 63 characters");
  }
  let bytes2 = 0;
  for (const [key, value] of textEntries(metadata.annotations, "annotations", add)) {
    if (!isQualifiedName(key.toLowerCase())) add(["annotations", key], "annotation name", "is no annotation name");
    bytes2 += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes2 > annotationBytes) add(["annotations"], `maxBytes ${annotationBytes}`, "are too long");
  return violations;
}
function tidyMetadata(metadata, namespace) {
  if (!isRecord(metadata)) return {};
  const known = Object.entries(metadata).filter(([key, value]) => fields.has(key) && value !== null);
  return { namespace, ...Object.fromEntries(known) };
}
function textEntries(map, field, add) {
  if (map === void 0 || map === null) return [];
  if (!isRecord(map)) {
    add([field], "type object", typeMessage("object", map));
    return [];
  }
  return Object.entries(map).flatMap(([key, value]) => {
    if (typeof value === "string") return [[key, value]];
    add([field, key], "type string", typeMessage("string", value));
    return [];
  });
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/api/backup-target.ts
var endpointPattern = "^https?://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?$";
var bucketPattern = "^[a-z0-9][-a-z0-9.]*[a-z0-9]$";
var secretName = (description) => ({ type: "string", description, pattern: objectNamePattern, maxLength: 253 });
var segments = "^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$";
var s3Schema = {
  type: "object",
  description: "A bucket on an S3-compatible server.",
  required: ["endpoint", "bucket"],
  properties: {
    endpoint: {
      type: "string",
      description: "URL of the server, without a path.",
      pattern: endpointPattern,
      maxLength: 280
    },
    bucket: {
      type: "string",
      description: "Name of the bucket, which must exist.",
      pattern: bucketPattern,
      minLength: 3,
      maxLength: 63
    },
    prefix: {
      type: "string",
      description: "Prefix of all object keys in the bucket.",
      pattern: segments,
      maxLength: 200
    },
    region: {
      type: "string",
      description: "Region in the signatures of requests.",
      default: "us-east-1",
      pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
      maxLength: 63
    },
    pathStyle: {
      type: "boolean",
      description: "Put the name of the bucket into the path instead of the host name. Most servers other than AWS require this.",
      default: true
    },
    credentials: secretName(
      "Secret in the same namespace with the keys accessKeyId and secretAccessKey, and sessionToken if the credentials are temporary."
    ),
    serviceAccountName: {
      type: "string",
      description: 'Instead of credentials: ServiceAccount in the same namespace that gets credentials of the server from the platform (IRSA, EKS Pod Identity) or through webIdentity. It must have the annotation clusterwright.dev/for-backups: "true".',
      pattern: objectNamePattern,
      maxLength: 253
    },
    webIdentity: {
      type: "object",
      description: "For platforms that do not give credentials to pods. The agent exchanges a token of the ServiceAccount for credentials that are valid for an hour, and renews them (AssumeRoleWithWebIdentity).",
      properties: {
        roleArn: {
          type: "string",
          description: "ARN of the role. AWS and Ceph require it. MinIO can take the role from the token.",
          pattern: "^arn:[a-zA-Z0-9:/_+=,.@-]+$",
          maxLength: 2048
        },
        endpoint: {
          type: "string",
          description: "URL of the security token service. When absent, that of AWS if the bucket is on AWS, else the endpoint of the bucket. A URL outside AWS must also be in the annotation clusterwright.dev/sts-endpoint of the ServiceAccount.",
          pattern: "^https?://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~-]+)*$",
          maxLength: 512
        },
        audience: {
          type: "string",
          description: "Audience of the token. An audience other than the default must also be in the annotation clusterwright.dev/sts-audience of the ServiceAccount.",
          default: "sts.amazonaws.com",
          pattern: "^[A-Za-z0-9][A-Za-z0-9:/._-]*$",
          maxLength: 256
        }
      }
    },
    serverSideEncryption: {
      type: "object",
      description: "Encryption by the server, in addition to the encryption of backups. When absent, the default of the bucket applies.",
      required: ["algorithm"],
      properties: {
        algorithm: { type: "string", description: "Encryption method of the server.", enum: ["AES256", "aws:kms"] },
        kmsKeyId: {
          type: "string",
          description: "Key of the key management service. When absent, the key of the bucket.",
          pattern: "^[A-Za-z0-9:/_-]+$",
          maxLength: 2048
        }
      },
      "x-kubernetes-validations": [
        {
          rule: "!has(self.kmsKeyId) || self.algorithm == 'aws:kms'",
          message: "kmsKeyId is for the algorithm aws:kms"
        }
      ]
    },
    ca: secretName(
      "Secret with the key ca.crt: CA certificates with which the agent verifies the server, instead of the public CAs. They also apply to a security token service outside AWS."
    )
  },
  "x-kubernetes-validations": [
    {
      rule: "has(self.credentials) != has(self.serviceAccountName)",
      message: "must have either credentials or serviceAccountName"
    },
    { rule: "!has(self.webIdentity) || has(self.serviceAccountName)", message: "webIdentity needs serviceAccountName" }
  ]
};
var claimSchema = {
  type: "object",
  description: "A PersistentVolumeClaim in the same namespace.",
  required: ["name"],
  properties: {
    name: {
      type: "string",
      description: "Name of the PersistentVolumeClaim, which must exist.",
      pattern: objectNamePattern,
      maxLength: 253
    },
    path: {
      type: "string",
      description: "Directory in the volume for all backups.",
      pattern: segments,
      maxLength: 200
    }
  }
};
var targetSchema = {
  type: "object",
  description: "Where backups are stored: either s3 or claim.",
  properties: { s3: s3Schema, claim: claimSchema },
  "x-kubernetes-validations": [{ rule: "has(self.s3) != has(self.claim)", message: "must have either s3 or claim" }]
};
var encryptionSchema = {
  type: "object",
  description: "The key that encrypts and authenticates backups. When absent, backups are not encrypted, and a checksum replaces the authentication.",
  required: ["secret"],
  properties: {
    secret: secretName("Secret with the key named key: 32 random bytes in base64. Without it, no backup can be read.")
  }
};
var backedUpSchema = {
  type: "object",
  description: "The cluster to back up, in the same namespace.",
  required: ["kind", "name"],
  properties: {
    kind: {
      type: "string",
      description: "Kind of the cluster. The operator must serve it.",
      pattern: "^[A-Z][A-Za-z0-9]*$",
      maxLength: 63
    },
    name: {
      type: "string",
      description: "Name of the cluster.",
      pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$",
      maxLength: 40
    }
  }
};

// src/api/group.ts
var group = "clusterwright.dev";
var version = "v1alpha1";

// src/api/selectable-fields.ts
var databaseFields = [".spec.version", ".spec.paused", ".status.phase"];

// src/api/backup-schedule.ts
var parts2 = [
  { name: "minute", bounds: "0 to 59", number: "[0-5]?[0-9]" },
  { name: "hour", bounds: "0 to 23", number: "([01]?[0-9]|2[0-3])" },
  { name: "day of the month", bounds: "1 to 31", number: "(0?[1-9]|[12][0-9]|3[01])" },
  { name: "month", bounds: "1 to 12", number: "(0?[1-9]|1[0-2])" },
  { name: "day of the week", bounds: "0 to 6, from Sunday", number: "[0-6]" }
];
function listOf(number) {
  const part = `([*]|${number}(-${number})?)(/[1-9][0-9]?)?`;
  return `^${part}(,${part})*$`;
}
var timeRules = [
  {
    rule: "self.split(' ').size() == 5",
    message: 'must have five parts with one blank between them: minute, hour, day of the month, month, day of the week, as in "15 3 * * *"'
  },
  ...parts2.map(({ name, bounds, number }, at) => ({
    rule: `self.split(' ').size() != 5 || self.split(' ')[${at}].matches('${listOf(number)}')`,
    message: `the ${name} (part ${at + 1} of 5) must be * or numbers from ${bounds}; ranges (1-5), steps (*/15) and lists (1,3) are made of these`
  })),
  // Refused by Kubernetes only when the CronJob is made.
  {
    rule: "self.findAll('[0-9]{1,2}-[0-9]{1,2}').all(range, int(range.split('-')[0]) <= int(range.split('-')[1]))",
    message: "a range must not end before it begins"
  }
];
var agePattern = "^[1-9][0-9]{0,3}[hd]$";
var retentionSchema = {
  type: "object",
  description: "Which backups of this schedule are kept. The newest good one is always kept.",
  default: {},
  properties: {
    count: {
      type: "integer",
      description: "Number of backups to keep.",
      minimum: 1,
      maximum: 1e3,
      default: 7
    },
    age: {
      type: "string",
      description: "Backups that are older are deleted, too. In hours or days, such as 36h or 30d.",
      pattern: agePattern,
      maxLength: 5
    }
  }
};
var scheduleSpecSchema = {
  type: "object",
  description: "The cluster to back up, the times, and the target.",
  required: ["cluster", "schedule", "target"],
  properties: {
    cluster: {
      ...backedUpSchema,
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "cluster is immutable" }]
    },
    schedule: {
      type: "string",
      description: "Times of the runs in cron format: minute, hour, day of the month, month and day of the week, in numbers.",
      maxLength: 80,
      "x-kubernetes-validations": timeRules
    },
    timeZone: {
      type: "string",
      description: "Time zone of the schedule, such as Europe/Berlin.",
      default: "Etc/UTC",
      pattern: "^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$",
      maxLength: 60,
      "x-kubernetes-validations": [{ rule: "self != 'Local'", message: "must name a time zone" }]
    },
    jitter: durationSchema(
      "Each run starts after a random delay of up to this time, so that schedules with the same times do not run at once.",
      "0s",
      "0s",
      "60m"
    ),
    startingDeadline: durationSchema(
      "A run that cannot begin within this time is skipped, and the schedule is Degraded with the reason RunOverdue.",
      "10m",
      "10s",
      "1440m"
    ),
    suspend: { type: "boolean", description: "Start no more runs.", default: false },
    retention: retentionSchema,
    target: targetSchema,
    encryption: encryptionSchema
  }
};

// src/api/label-name.ts
var labelName2 = "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
var labelValue2 = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";

// src/api/external-service.ts
var octet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
var range4 = `(${octet}[.]){3}${octet}/(3[0-2]|[12]?[0-9])`;
var range6 = "[0-9a-fA-F:]*:[0-9a-fA-F:.]*/(12[0-8]|1[01][0-9]|[1-9]?[0-9])";
var addressRange = `^(${range4}|${range6})$`;
var only = (type3, field, why = "") => ({
  rule: `self.type == '${type3}' || !has(self.${field})`,
  message: `${field} is only for a ${type3}${why}`,
  fieldPath: `.${field}`
});
var externalServiceSchema = (to) => ({
  type: "object",
  description: `Additional Service that leads to ${to}.`,
  required: ["type"],
  properties: {
    type: {
      type: "string",
      description: "Type of the Service. A ClusterIP is for clients in the Kubernetes cluster, with settings of its own.",
      enum: ["ClusterIP", "LoadBalancer", "NodePort"]
    },
    annotations: {
      type: "object",
      description: "Annotations of the Service, for the controller of load balancers or DNS names.",
      default: {},
      maxProperties: 32,
      additionalProperties: { type: "string", description: "Value of the annotation.", maxLength: 1024 },
      "x-kubernetes-validations": [
        {
          rule: `self.all(k, k.matches('${labelName2}'))`,
          message: "keys of annotations must be annotation names"
        }
      ]
    },
    nodePort: {
      type: "integer",
      description: "Port on the nodes. When absent, Kubernetes chooses one.",
      minimum: 1,
      maximum: 65535
    },
    loadBalancerClass: {
      type: "string",
      description: "Which controller makes the load balancer. When absent, the default one.",
      maxLength: 253
    },
    sourceRanges: {
      type: "array",
      description: "Address ranges that the load balancer accepts, for example 10.0.0.0/8. When empty, all.",
      default: [],
      maxItems: 64,
      items: { type: "string", description: "An address range.", pattern: addressRange, maxLength: 43 },
      "x-kubernetes-list-type": "set"
    },
    externalTrafficPolicy: {
      type: "string",
      description: "With Local, a node passes connections from outside only to pods on itself, and the pods see the address of the client. When absent, Cluster.",
      enum: ["Cluster", "Local"]
    },
    trafficDistribution: {
      type: "string",
      description: "Which pods connections prefer. When absent, none.",
      enum: ["PreferClose", "PreferSameZone", "PreferSameNode"]
    },
    ipFamilyPolicy: {
      type: "string",
      description: "Whether the Service has an IPv4 address, an IPv6 address or both. When absent, SingleStack.",
      enum: ["SingleStack", "PreferDualStack", "RequireDualStack"]
    },
    ipFamilies: {
      type: "array",
      description: "The IP families, the first one first. When absent, Kubernetes chooses. The first one is immutable.",
      minItems: 1,
      maxItems: 2,
      items: { type: "string", description: "An IP family.", enum: ["IPv4", "IPv6"] },
      "x-kubernetes-list-type": "atomic"
    },
    appProtocol: {
      type: "string",
      description: "Protocol of the port, for a service mesh or a gateway, for example tcp. When absent, none is named.",
      pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
      maxLength: 253
    }
  },
  "x-kubernetes-validations": [
    {
      rule: "self.type == 'LoadBalancer' || size(self.sourceRanges) == 0",
      message: "sourceRanges is only for a LoadBalancer: Kubernetes limits nobody at the port of a node",
      fieldPath: ".sourceRanges"
    },
    only("LoadBalancer", "loadBalancerClass"),
    {
      rule: "self.type != 'ClusterIP' || !has(self.nodePort)",
      message: "a Service of type ClusterIP has no nodePort",
      fieldPath: ".nodePort"
    },
    {
      rule: "self.type != 'ClusterIP' || !has(self.externalTrafficPolicy)",
      message: "a Service of type ClusterIP takes no externalTrafficPolicy: nothing reaches it from outside",
      fieldPath: ".externalTrafficPolicy"
    }
  ]
});

// src/api/image.ts
var imageName = "[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*";
var imageTag = ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
var imageDigest = "@sha256:[a-f0-9]{64}";
var imagePattern = `^${imageName}(${imageTag}(${imageDigest})?|${imageDigest})$`;
var imageSchema = (fallback) => ({
  type: "string",
  description: `Image to run instead of ${fallback}, with a tag or a digest.`,
  pattern: imagePattern,
  maxLength: 500
});
var domainLabel = "[a-z0-9]+(-+[a-z0-9]+)*";
var port = ":[0-9]{1,5}";
var imageRegistryPattern = `^(localhost(${port})?|${domainLabel}((\\.${domainLabel})+(${port})?|${port}))(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`;
function inRegistry(image, registry) {
  return registry === void 0 ? image : `${registry}/${image.replace(/^(localhost|[^/]*[.:][^/]*)\//, "")}`;
}

// src/api/pattern-message.ts
var words = /* @__PURE__ */ new Map([
  [
    quantityPattern,
    "must be a quantity such as 500m, 2 or 10Gi: a number and one of m, k, M, G, T, Ki, Mi, Gi and Ti, or none"
  ],
  [durationPattern, "must be a duration such as 500ms, 3s or 2m: a whole number and one of ms, s and m"],
  [namePattern, "must be lower-case letters, digits and dashes, with a letter first and no dash last"],
  [objectNamePattern, "must be lower-case letters, digits, dashes and dots, with a letter or digit first and last"],
  [imagePattern, "must be an image with a tag or a digest, such as registry.example/path/name:1.0"],
  [endpointPattern, "must be a URL without a path, such as https://s3.example.com or http://minio.storage.svc:9000"],
  [bucketPattern, "must be the name of a bucket: lower-case letters, digits, dashes and dots"],
  [agePattern, "must be hours or days, such as 36h or 30d"],
  [addressRange, "must be a range of addresses, such as 10.0.0.0/8"]
]);
function patternMessage(pattern) {
  return words.get(pattern) ?? `must match ${pattern}`;
}

// src/api/check.ts
function withDefaults(schema, value) {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === void 0 ? value : value.map((item) => withDefaults(items, item));
  }
  if (typeof value !== "object" || value === null) return value;
  const defaults = Object.entries(schema.properties ?? {}).flatMap(
    ([name, child]) => child.default === void 0 || Object.hasOwn(value, name) ? [] : [[name, structuredClone(child.default)]]
  );
  return Object.fromEntries(
    [...Object.entries(value), ...defaults].map(([key, child]) => {
      const childSchema = schemaOfKey(schema, key);
      return [key, childSchema === void 0 ? child : withDefaults(childSchema, child)];
    })
  );
}
function schemaViolations(schema, value, path = []) {
  if (value === null && schema.nullable === true) return [];
  const type3 = typeFault(schema, value);
  if (type3 !== void 0) return [{ path, ...type3 }];
  const own = boundFaults(schema, value).map((fault) => ({ path, ...fault }));
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === void 0) return own;
    const repeated = repeatedItems(schema, value).map((i2) => ({
      path: [...path, i2],
      rule: "unique",
      message: "is in the list before"
    }));
    return [...own, ...repeated, ...value.flatMap((item, i2) => schemaViolations(items, item, [...path, i2]))];
  }
  if (typeof value !== "object" || value === null) return own;
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name)).map((name) => ({ path: [...path, name], rule: "required", message: "is required" }));
  const below = Object.entries(value).flatMap(([key, child]) => {
    const childSchema = schemaOfKey(schema, key);
    return childSchema === void 0 ? [] : schemaViolations(childSchema, child, [...path, key]);
  });
  return [...own, ...missing, ...below];
}
function repeatedItems(schema, items) {
  const { "x-kubernetes-list-type": type3, "x-kubernetes-list-map-keys": keys2 = [] } = schema;
  if (type3 !== "set" && type3 !== "map") return [];
  const nameOf = (item) => JSON.stringify(
    type3 === "set" ? item : keys2.map((key) => item?.[key])
  );
  const names2 = items.map(nameOf);
  return names2.flatMap((name, i2) => names2.indexOf(name) < i2 ? [i2] : []);
}
function typeFault(schema, value) {
  if (schema["x-kubernetes-int-or-string"] === true) {
    const fits = typeof value === "string" || Number.isInteger(value);
    return fits ? void 0 : { rule: "type integer or string", message: typeMessage("integer or string", value) };
  }
  const { type: type3 } = schema;
  return type3 === void 0 || isOfType(type3, value) ? void 0 : { rule: `type ${type3}`, message: typeMessage(type3, value) };
}
function isOfType(type3, value) {
  switch (type3) {
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type3;
  }
}
function boundFaults(schema, value) {
  const findings = [];
  const limit = (keyword, fits, message) => {
    const bound = schema[keyword];
    if (typeof bound === "number" && !fits(bound)) {
      findings.push({ rule: `${keyword} ${bound}`, message: `${message} ${bound}` });
    }
  };
  if (schema.enum !== void 0 && !schema.enum.some((allowed) => allowed === value)) {
    const allowed = schema.enum.join(", ");
    findings.push({ rule: `enum ${allowed}`, message: `must be one of ${allowed}` });
  }
  if (typeof value === "number") {
    limit("minimum", (bound) => value >= bound, "must be at least");
    limit("maximum", (bound) => value <= bound, "must be at most");
  }
  if (typeof value === "string") {
    const length = [...value].length;
    limit("minLength", (bound) => length >= bound, "must have at least this many characters:");
    limit("maxLength", (bound) => length <= bound, "must have at most this many characters:");
    if (schema.pattern !== void 0 && !new RegExp(schema.pattern, "u").test(value)) {
      findings.push({ rule: `pattern ${schema.pattern}`, message: patternMessage(schema.pattern) });
    }
  }
  if (Array.isArray(value)) {
    limit("minItems", (bound) => value.length >= bound, "must have at least this many items:");
    limit("maxItems", (bound) => value.length <= bound, "must have at most this many items:");
  } else if (typeof value === "object" && value !== null) {
    const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
    if (isOpen && JSON.stringify(value).length > longestOpenValue) {
      const message = `must have at most this many characters as JSON: ${longestOpenValue}`;
      findings.push({ rule: `size ${longestOpenValue}`, message });
    }
    limit("maxProperties", (bound) => Object.keys(value).length <= bound, "must have at most this many entries:");
  }
  return findings;
}

// src/api/earlier-defaults.ts
var isFields = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var earlier = { clients: '[{"podSelector":{}}]', metrics: '[{"namespaceSelector":{}}]' };
function withoutEarlierDefaults(content) {
  const { spec } = content;
  if (!isFields(spec) || !isFields(spec.networkPolicy)) return content;
  const kept = Object.entries(spec.networkPolicy).filter(([name, list]) => earlier[name] !== JSON.stringify(list));
  return { ...content, spec: { ...spec, networkPolicy: Object.fromEntries(kept) } };
}

// src/api/object.ts
function apiVersionOf(resource) {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

// src/api/validate.ts
function validateCluster(kind, object, options = {}) {
  const { resource } = kind;
  if (!isRecord2(object)) return refused("", "type object", "must be an object");
  if (object.apiVersion !== apiVersionOf(resource)) {
    return refused("apiVersion", "enum", `must be ${apiVersionOf(resource)}`);
  }
  if (object.kind !== resource.kind) return refused("kind", "enum", `must be ${resource.kind}`);
  const { value: candidate, unknown } = defaulted(
    kind,
    options.unknown === "prune" ? withoutEarlierDefaults(object) : object,
    options.namespace ?? "default"
  );
  const violations = metadataViolations(object.metadata, options.unknown !== "prune");
  if (options.unknown !== "prune") {
    for (const path of unknown) {
      violations.push({ path: displayPath(path), rule: "known field", message: "unknown field" });
    }
  }
  violations.push(...kindViolations(kind, candidate));
  if (violations.length === 0) {
    const old = isRecord2(options.old) ? defaulted(kind, options.old, "default").value : void 0;
    violations.push(...ruleViolations(kind, candidate, old));
  }
  return violations.length === 0 ? { ok: true, cluster: candidate } : { ok: false, violations: violations.sort((a, b2) => a.path < b2.path ? -1 : a.path > b2.path ? 1 : 0) };
}
var refused = (path, rule, message) => ({
  ok: false,
  violations: [{ path, rule, message }]
});
function isRecord2(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function defaulted(kind, object, namespace) {
  const { apiVersion, kind: kindName, metadata, ...content } = object;
  const pruned = prune(kind.schema, content);
  const value = {
    apiVersion,
    kind: kindName,
    metadata: tidyMetadata(metadata, namespace),
    ...withDefaults(withoutStatus(kind), pruned.value)
  };
  return { value, unknown: pruned.unknown };
}
function withoutStatus(kind) {
  const { status: _, ...properties } = kind.schema.properties ?? {};
  return { ...kind.schema, properties };
}
function kindViolations(kind, candidate) {
  return schemaViolations(withoutStatus(kind), candidate).map(({ path, rule, message }) => ({
    path: displayPath(path),
    rule,
    message
  }));
}
function ruleViolations(kind, candidate, old) {
  return celViolations(kind.schema, candidate, old).map(({ path, rule, message, cause }) => ({
    path: displayPath(path),
    rule: rule.rule,
    message: cause === void 0 ? message : `${message} (${cause instanceof Error ? cause.message : cause})`
  }));
}

// src/api/bootstrap.ts
var restoreProperties = {
  target: targetSchema,
  encryption: encryptionSchema,
  id: {
    type: "string",
    description: "ID of the backup. When absent, the newest backup of the cluster.",
    pattern: "^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$",
    maxLength: 25
  },
  cluster: {
    type: "object",
    description: "Cluster that the backup was taken of. A field that is absent matches every cluster. If backups of several clusters match, the restore is refused.",
    default: {},
    properties: {
      namespace: {
        type: "string",
        description: "Namespace of that cluster.",
        pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        maxLength: 63
      },
      name: {
        type: "string",
        description: "Name of that cluster.",
        pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$",
        maxLength: 40
      },
      uid: {
        type: "string",
        description: "UID of that cluster. It distinguishes clusters with the same name.",
        pattern: "^[A-Za-z0-9][A-Za-z0-9-]*$",
        maxLength: 64
      }
    }
  }
};
var bootstrapSchema = (more) => ({
  type: "object",
  description: "Initial data of a new cluster. It is used once, before the cluster has any data. Immutable.",
  required: ["restore"],
  properties: {
    restore: {
      type: "object",
      description: "Start with the data of a backup.",
      required: ["target"],
      properties: { ...restoreProperties, ...more }
    }
  }
});
var bootstrapRules = [
  {
    rule: "has(self.bootstrap) == has(oldSelf.bootstrap) && (!has(self.bootstrap) || self.bootstrap == oldSelf.bootstrap)",
    message: "bootstrap is immutable",
    fieldPath: ".bootstrap"
  }
];
var backupPolicySchema = (besides = "") => ({
  type: "object",
  description: `Target and key of the backups that the operator takes by itself: the last one under deletionPolicy Snapshot${besides}. \`clusterwright backup create\` uses them, too. A BackupSchedule names its own target and key. When absent, the operator takes no such backup, and deletionPolicy Snapshot is refused.`,
  required: ["target"],
  properties: { target: targetSchema, encryption: encryptionSchema }
});
var archiveSchema = {
  type: "object",
  description: "Archive the log of the database continuously, in the target of the backups. A new cluster can then be restored to any point in time since the oldest backup. When absent, the log is not archived.",
  properties: {
    maxLag: durationSchema(
      "Time for which nothing may reach the archive before the cluster is reported as not ready. Writes continue in any case.",
      "60s",
      "15s",
      "60m"
    )
  }
};
var backupPolicyRules = [
  {
    rule: "self.deletionPolicy != 'Snapshot' || has(self.backup)",
    message: "deletionPolicy Snapshot needs backup.target",
    fieldPath: ".backup"
  }
];

// src/api/columns.ts
var stateColumns = [
  {
    name: "Ready",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: "Status of the condition Ready."
  },
  {
    name: "Reason",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: "Reason of the condition Ready."
  }
];
var lifeColumns = [
  { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Phase of the cluster." },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "Time since creation." }
];
var wideColumns = [
  {
    name: "Storage",
    type: "string",
    jsonPath: ".spec.storage.size",
    description: "Requested size of each volume.",
    priority: 1
  },
  {
    name: "Paused",
    type: "boolean",
    jsonPath: ".spec.paused",
    description: "Whether changes by the operator are paused.",
    priority: 1
  },
  { name: "Next", type: "string", jsonPath: ".status.plan.next", description: "Next step of the plan.", priority: 1 },
  {
    name: "Waiting",
    type: "string",
    jsonPath: ".status.plan.waitingFor",
    description: "What the plan waits for.",
    priority: 1
  }
];

// src/api/compute.ts
var quantity = (description) => ({
  description,
  "x-kubernetes-int-or-string": true,
  anyOf: [{ type: "integer" }, { type: "string" }],
  pattern: quantityPattern,
  maxLength: 20
});
var computeSchema = (of, defaults, minimumMemory) => ({
  type: "object",
  description: `CPU and memory of ${of}.`,
  default: {},
  properties: {
    requests: {
      type: "object",
      description: "Requested CPU and memory.",
      default: {},
      properties: {
        cpu: { ...quantity("CPU, for example 500m."), default: defaults.cpu },
        memory: quantity("Memory, for example 512Mi. When absent, the memory limit.")
      }
    },
    limits: {
      type: "object",
      description: "Limits of CPU and memory.",
      default: {},
      properties: {
        cpu: quantity("CPU, for example 2. When absent, there is no limit."),
        memory: { ...quantity(`Memory, at least ${minimumMemory}.`), default: defaults.memory }
      }
    }
  }
});
function computeRules(path, minimumMemory) {
  const at = `self.${path}`;
  const atMost = (resource) => ({
    rule: `!has(${at}.requests.${resource}) || !has(${at}.limits.${resource}) || quantity(string(${at}.requests.${resource})).compareTo(quantity(string(${at}.limits.${resource}))) <= 0`,
    message: `${path}.requests.${resource} must not exceed ${path}.limits.${resource}`,
    fieldPath: `.${path}.requests`
  });
  return [
    atMost("cpu"),
    atMost("memory"),
    {
      rule: `quantity(string(${at}.limits.memory)).compareTo(quantity('${minimumMemory}')) >= 0`,
      message: `${path}.limits.memory must be at least ${minimumMemory}`,
      fieldPath: `.${path}.limits.memory`
    }
  ];
}

// src/api/exporter.ts
var memory = "32Mi";
var exporterFields = (fallback) => ({
  image: imageSchema(fallback),
  resources: computeSchema("an exporter", { cpu: "20m", memory: "64Mi" }, memory)
});
var exporterRules = computeRules("monitoring.resources", memory).map(
  ({ rule, ...rest }) => ({ ...rest, rule: `!has(self.monitoring) || (${rule})` })
);

// src/api/lifecycle.ts
var deletionPolicySchema = {
  type: "string",
  description: "What happens to volumes and generated Secrets when the cluster is deleted. Retain keeps them. Delete deletes them. Snapshot takes a last backup, verifies it, and then deletes them, except for a password that a restore needs.",
  enum: ["Retain", "Snapshot", "Delete"],
  default: "Retain"
};
var pausedSchema = (meanwhile) => ({ type: "boolean", description: `Stop all changes by the operator. ${meanwhile}`, default: false });

// src/api/network-policy.ts
var requirementSchema = {
  type: "object",
  description: "A condition on one label.",
  required: ["key", "operator"],
  properties: {
    key: { type: "string", description: "Name of the label.", pattern: labelName2, maxLength: 317 },
    operator: {
      type: "string",
      description: "In: the label has one of the values. NotIn: it has none of them, or is absent. Exists and DoesNotExist: the label is there, or is not.",
      enum: ["In", "NotIn", "Exists", "DoesNotExist"]
    },
    values: {
      type: "array",
      description: "Values for In and NotIn.",
      maxItems: 8,
      items: { type: "string", description: "A value of the label.", pattern: labelValue2, maxLength: 63 },
      "x-kubernetes-list-type": "atomic"
    }
  },
  "x-kubernetes-validations": [
    {
      rule: "(self.operator == 'In' || self.operator == 'NotIn') == (has(self.values) && size(self.values) > 0)",
      message: "In and NotIn need values, Exists and DoesNotExist take none",
      fieldPath: ".values"
    }
  ]
};
var selectorSchema = (description) => ({
  type: "object",
  description,
  properties: {
    matchLabels: {
      type: "object",
      description: "Labels that it must have.",
      maxProperties: 4,
      additionalProperties: {
        type: "string",
        description: "Value of the label.",
        pattern: labelValue2,
        maxLength: 63,
        nullable: true
      },
      "x-kubernetes-validations": [
        { rule: "self.all(k, type(self[k]) == string)", message: "labels of matchLabels must have values" },
        { rule: `self.all(k, k.matches('${labelName2}'))`, message: "keys of matchLabels must be label names" }
      ]
    },
    matchExpressions: {
      type: "array",
      description: "Conditions on its labels. All of them must be true.",
      minItems: 1,
      maxItems: 2,
      items: requirementSchema,
      "x-kubernetes-list-type": "atomic"
    }
  },
  "x-kubernetes-validations": [
    {
      rule: "has(self.matchLabels) ? size(self.matchLabels) > 0 : has(self.matchExpressions)",
      message: "name labels, expressions or both; for all pods, write the field all instead of selectors"
    }
  ]
});
var peerSchema = {
  type: "object",
  description: "Pods by namespaceSelector, podSelector or both, or by all, or addresses by ipBlock. Without namespaceSelector, pods of the namespace of the cluster.",
  properties: {
    all: {
      type: "string",
      description: "All pods: of the namespace of the cluster, or of all namespaces.",
      enum: ["Namespace", "AllNamespaces"]
    },
    namespaceSelector: selectorSchema("Selects namespaces. Without podSelector, all pods in them."),
    podSelector: selectorSchema("Selects pods."),
    ipBlock: {
      type: "object",
      description: "Addresses outside of the Kubernetes cluster.",
      required: ["cidr"],
      properties: {
        cidr: {
          type: "string",
          description: "Address range, for example 10.0.0.0/8.",
          pattern: addressRange,
          maxLength: 43
        },
        except: {
          type: "array",
          description: "Address ranges inside of cidr that may not connect.",
          maxItems: 8,
          items: { type: "string", description: "An address range.", pattern: addressRange, maxLength: 43 },
          "x-kubernetes-list-type": "set"
        }
      }
    }
  },
  "x-kubernetes-validations": [
    {
      rule: "(has(self.ipBlock) ? 1 : 0) + (has(self.all) ? 1 : 0) + (has(self.namespaceSelector) || has(self.podSelector) ? 1 : 0) == 1",
      message: "name either all, or ipBlock, or namespaceSelector, podSelector or both"
    }
  ]
};
var networkPolicySchema = {
  type: "object",
  description: "Limits who may connect to the pods of the cluster, by a NetworkPolicy. The pods of the cluster, its Jobs and the operator may connect to all ports. When absent, there is no NetworkPolicy.",
  properties: {
    clients: {
      type: "array",
      description: "Who may connect to the ports for clients. When empty, nobody. When absent, pods of the namespace.",
      default: [{ all: "Namespace" }],
      maxItems: 16,
      items: peerSchema,
      "x-kubernetes-list-type": "atomic"
    },
    metrics: {
      type: "array",
      description: "Who may connect to the ports with metrics. When empty, nobody. When absent, pods of all namespaces.",
      default: [{ all: "AllNamespaces" }],
      maxItems: 4,
      items: peerSchema,
      "x-kubernetes-list-type": "atomic"
    }
  }
};

// src/api/pods.ts
var defaultUid = 10001;
var reserved2 = "(.*[.])?(kubernetes[.]io|k8s[.]io|clusterwright[.]dev)/.*";
var setByJobs = "^(job-name|controller-uid)$";
var keyRules = (field) => [
  { rule: `self.all(k, k.matches('${labelName2}'))`, message: `keys of pods.${field} must be label names` },
  {
    rule: `self.all(k, !k.matches('^${reserved2}$'))`,
    message: `keys of pods.${field} must not begin with kubernetes.io/, k8s.io/ or clusterwright.dev/, or a subdomain of these`
  },
  {
    rule: `self.all(k, !k.matches('${setByJobs}'))`,
    message: `keys of pods.${field} must not be job-name or controller-uid: Kubernetes sets them on the pods of Jobs`
  }
];
var podsSchema = {
  type: "object",
  description: "Additions to all pods of the cluster, also to those of its Jobs. After a change, the pods restart one at a time.",
  default: {},
  properties: {
    labels: {
      type: "object",
      description: "Labels of the pods.",
      additionalProperties: { type: "string", description: "Value of the label.", pattern: labelValue2, maxLength: 63 },
      maxProperties: 16,
      "x-kubernetes-validations": keyRules("labels")
    },
    annotations: {
      type: "object",
      description: "Annotations of the pods.",
      additionalProperties: { type: "string", description: "Value of the annotation.", maxLength: 4096 },
      maxProperties: 16,
      "x-kubernetes-validations": keyRules("annotations")
    },
    imagePullSecrets: {
      type: "array",
      description: "Secrets for the registries of the images, in the namespace of the cluster.",
      maxItems: 8,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        description: "A Secret of type kubernetes.io/dockerconfigjson.",
        required: ["name"],
        properties: {
          name: {
            type: "string",
            description: "Name of the Secret.",
            pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
            maxLength: 253
          }
        }
      }
    },
    uid: {
      type: "integer",
      description: "User and group that the processes run as, and group of their volumes. On OpenShift, take a number of the range in the annotation openshift.io/sa.scc.uid-range of the namespace. Immutable, because the files in the volumes belong to it.",
      minimum: 1e3,
      maximum: 2147483647,
      default: defaultUid,
      "x-kubernetes-validations": [
        { rule: "self == oldSelf", message: "pods.uid is immutable: the files in the volumes belong to it" }
      ]
    }
  }
};
var podsWithAccountSchema = {
  ...podsSchema,
  properties: {
    ...podsSchema.properties,
    serviceAccountName: {
      type: "string",
      description: "ServiceAccount of the pods, in the namespace of the cluster, without those of its Jobs. No token of it is mounted. When absent, default.",
      pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
      maxLength: 253
    }
  }
};

// src/api/scheduling.ts
var anyTerms = (rules) => ({
  type: "object",
  description: `${rules} At most 16,384 characters as JSON.`,
  // Kubernetes knows two. How long they are is checked outside of the API server: see `longestOpenValue`.
  maxProperties: 16,
  "x-kubernetes-preserve-unknown-fields": true
});
var schedulingSchema = {
  type: "object",
  description: "On which nodes the pods may run.",
  default: {},
  properties: {
    nodeSelector: {
      type: "object",
      description: "Labels that a node must have.",
      additionalProperties: { type: "string", description: "Value of the label.", pattern: labelValue2, maxLength: 63 },
      maxProperties: 16,
      "x-kubernetes-validations": [
        { rule: `self.all(k, k.matches('${labelName2}'))`, message: "keys of nodeSelector must be label names" }
      ]
    },
    tolerations: {
      type: "array",
      description: "Tolerations of the pods.",
      maxItems: 16,
      "x-kubernetes-list-type": "atomic",
      items: {
        type: "object",
        description: "One toleration.",
        properties: {
          key: { type: "string", description: "Key of the taint. When empty, all keys.", maxLength: 317 },
          operator: {
            type: "string",
            description: "How key and value are compared. When absent, Equal.",
            enum: ["Equal", "Exists"]
          },
          value: { type: "string", description: "Value of the taint.", pattern: labelValue2, maxLength: 63 },
          effect: {
            type: "string",
            description: "Effect of the taint. When absent, all effects.",
            enum: ["NoSchedule", "PreferNoSchedule", "NoExecute"]
          },
          tolerationSeconds: {
            type: "integer",
            description: "How long a NoExecute taint is tolerated, in seconds. When absent, without a limit.",
            minimum: 0,
            maximum: 2147483647
          }
        },
        "x-kubernetes-validations": [
          {
            rule: "has(self.key) && self.key != '' ? self.key.matches('" + labelName2 + "') : has(self.operator) && self.operator == 'Exists'",
            message: "key must be a label name, or be empty with operator Exists"
          },
          {
            rule: "!(has(self.operator) && self.operator == 'Exists' && has(self.value) && self.value != '')",
            message: "operator Exists takes no value"
          },
          {
            rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
            message: "tolerationSeconds needs effect NoExecute"
          }
        ]
      }
    },
    affinity: {
      type: "object",
      description: "Affinity rules of the pods, in addition to the spreading over nodes.",
      properties: {
        nodeAffinity: anyTerms("Node affinity, in the format of a pod spec."),
        podAffinity: anyTerms("Pod affinity, in the format of a pod spec."),
        podAntiAffinity: anyTerms("Pod anti-affinity, in the format of a pod spec.")
      }
    },
    topologySpread: {
      type: "string",
      description: "Whether pods of one role may share a node if no other node is available. With Preferred they may. With Required they stay Pending.",
      enum: ["Preferred", "Required"],
      default: "Preferred"
    },
    zoneSpread: {
      type: "string",
      description: "Whether pods of one role are spread over the zones of the nodes, too. With Preferred, a zone may have more of them if there is no other node. With Required, pods stay Pending then. When absent, zones do not matter.",
      enum: ["Preferred", "Required"]
    },
    priorityClassName: {
      type: "string",
      description: "PriorityClass of the pods.",
      pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
      maxLength: 253
    }
  }
};

// src/api/secret-ref.ts
var secretRefSchema = {
  type: "object",
  description: "A Secret in the namespace of the cluster.",
  required: ["name"],
  properties: {
    name: {
      type: "string",
      description: "Name of the Secret.",
      pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
      maxLength: 253
    },
    key: {
      type: "string",
      description: "Key in the Secret that holds the password.",
      default: "password",
      pattern: "^[-_A-Za-z0-9][-._A-Za-z0-9]*$",
      maxLength: 253
    }
  }
};

// src/api/storage.ts
var sizeSchema = (initially) => ({
  type: "string",
  description: "Size of the volume as a Kubernetes quantity. It can grow if the StorageClass allows volume expansion. Volumes never shrink, but a size that no volume was expanded to can be lowered again to status.storage.minimumSize.",
  default: initially,
  pattern: quantityPattern,
  maxLength: 20,
  "x-kubernetes-validations": [
    {
      rule: "quantity(self).compareTo(quantity('128Mi')) >= 0",
      message: "storage must have at least 128Mi"
    }
  ]
});
var storageRules = [
  {
    rule: "quantity(self.spec.storage.size).compareTo(quantity(oldSelf.spec.storage.size)) >= 0 || (has(oldSelf.status) && has(oldSelf.status.storage) && has(oldSelf.status.storage.minimumSize) && quantity(self.spec.storage.size).compareTo(quantity(oldSelf.status.storage.minimumSize)) >= 0)",
    message: "storage cannot shrink: storage.size can be lowered only to what the volumes have, which is status.storage.minimumSize",
    fieldPath: ".spec.storage.size"
  }
];
var storageClassName = {
  type: "string",
  description: "StorageClass of the volume. When absent, the default class of the Kubernetes cluster. Immutable.",
  pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
  maxLength: 253
};
var classIsImmutable = {
  rule: "has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",
  message: "storage.storageClassName is immutable"
};
var volumeSchema = {
  type: "object",
  description: "The volume of each member.",
  default: {},
  properties: { size: sizeSchema("1Gi"), storageClassName },
  "x-kubernetes-validations": [classIsImmutable]
};
var storageSchema = {
  type: "object",
  description: "The volume of each pod that holds data.",
  default: {},
  properties: {
    // Four times the data that the default memory limit allows, and more.
    size: sizeSchema("2Gi"),
    storageClassName,
    ephemeral: {
      type: "boolean",
      description: "Keep the data in the pods only. All data is lost when the last pod is deleted. Immutable.",
      default: false,
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "storage.ephemeral is immutable" }]
    }
  },
  "x-kubernetes-validations": [
    classIsImmutable,
    {
      rule: "!(self.ephemeral && has(self.storageClassName))",
      message: "storage.storageClassName has no meaning with storage.ephemeral"
    }
  ]
};

// src/engines/redis/kind/released-image.ts
function releasedImage(version2, engine = "Redis") {
  return `${releases[engine].repository}:${version2}`;
}
var exporterImage = "docker.io/oliver006/redis_exporter:v1.86.0-alpine";

// src/engines/redis/kind/monitoring.ts
var monitoringSchema = {
  type: "object",
  description: "Metrics of each Redis node and sentinel for Prometheus, by redis_exporter in a sidecar. When absent, there are none. After a change, the pods restart one at a time.",
  properties: exporterFields(exporterImage)
};

// src/engines/redis/kind/version-rules.ts
var isVersion = (self) => `${self}.matches('^[789][.](0|[1-9][0-9]?)$')`;
var versionNumber = (self) => `(int(${self}.split('.')[0]) * 100 + int(${self}.split('.')[1]))`;
var numberOf = (version2) => {
  const [major = 0, minor = 0] = version2.split(".").map(Number);
  return major * 100 + minor;
};
var inWords = serverEngines.map((engine) => `${releases[engine].supported} of ${engine}`).join(", ");
var versionRules = [
  {
    rule: isVersion("self"),
    message: `version must be major.minor, such as 8.0, without a patch or a v; supported are ${inWords}`
  },
  {
    rule: `!${isVersion("self")} || (${versionNumber("self")} >= ${versionNumber("oldSelf")} && int(self.split('.')[0]) - int(oldSelf.split('.')[0]) <= 1)`,
    message: "version can only rise, by one major at a time"
  }
];
var onlyWith = (engine, rule) => `self.engine != '${engine}' || ${rule}`;
var supportedRules = serverEngines.map((engine) => ({
  rule: onlyWith(engine, `!${isVersion("self.version")} || self.version.matches('^${releases[engine].versions}$')`),
  message: `supported versions with engine ${engine} are ${releases[engine].supported}`,
  fieldPath: ".version"
}));
var ownFormat = firstOfItsOwn("Redis");
var lastCommon = releases.Valkey.formats[0]?.[0] ?? "";
var wayToValkey = `Valkey cannot read files of Redis ${ownFormat} or later: create another cluster and copy the keys by commands, as the guide of Redis shows`;
var wayToRedis = `engine cannot change from Valkey to Redis: restore a backup of Valkey before ${lastCommon} into another cluster, of Redis 7.2 or later`;
var changesTo = (engine, self, oldSelf) => `${self}.engine != '${engine}' || ${oldSelf}.engine == '${engine}'`;
var engineRules = [
  ...supportedRules,
  { rule: changesTo("Redis", "self", "oldSelf"), message: wayToRedis, fieldPath: ".engine" },
  {
    rule: `${changesTo("Valkey", "self", "oldSelf")} || ${versionNumber("oldSelf.version")} < ${numberOf(ownFormat)}`,
    message: wayToValkey,
    fieldPath: ".engine"
  }
];
var runs = "oldSelf.status.version";
var isRunningVersion = `${runs}.matches('^[0-9]{1,4}[.][0-9]{1,4}([.]|$)')`;
var runningRules = [
  {
    rule: `${changesTo("Valkey", "self.spec", "oldSelf.spec")} || !has(oldSelf.status) || !has(${runs}) || !${isRunningVersion} || ${versionNumber(runs)} < ${numberOf(ownFormat)}`,
    message: `engine: ${wayToValkey}`,
    fieldPath: ".spec.engine"
  }
];
var directiveRules = Object.entries(redisDirectives).flatMap(([name, directive]) => [
  ...modeRules(name, directive),
  ...serverEngines.flatMap((engine) => {
    const range = directive.in?.[engine];
    return range === void 0 ? [] : rulesOf(name, engine, range);
  })
]);
function modeRules(name, { mode }) {
  if (mode === void 0) return [];
  const rule = `self.mode == '${mode}' || !has(self.config.${celName(name)})`;
  return [{ rule, message: `config.${name} needs mode ${mode}` }];
}
function rulesOf(name, engine, range) {
  const isAbsent = `!has(self.config.${celName(name)})`;
  if (range === "none") {
    return [{ rule: onlyWith(engine, isAbsent), message: `config.${name} is not known to ${engine}` }];
  }
  const { since, before } = range;
  const version2 = versionNumber("self.version");
  const unless = (bound) => onlyWith(engine, `${isAbsent} || !${isVersion("self.version")} || ${bound}`);
  return [
    ...since === void 0 ? [] : [
      {
        rule: unless(`${version2} >= ${numberOf(since)}`),
        message: `config.${name} needs version ${since} or later`
      }
    ],
    ...before === void 0 ? [] : [
      {
        rule: unless(`${version2} < ${numberOf(before)}`),
        message: `config.${name} is not known to ${engine} ${before} or later`
      }
    ]
  ];
}

// src/engines/redis/kind/schema.ts
var sentinelMemory = "32Mi";
var dataMemory = "64Mi";
var sentinelSchema = {
  type: "object",
  description: "The sentinels, which monitor the Redis nodes and elect the primary. Ignored in modes Standalone and Cluster.",
  default: {},
  properties: {
    replicas: {
      type: "integer",
      description: "Number of sentinels. It can change by at most two at a time.",
      enum: [3, 5, 7],
      default: 3,
      "x-kubernetes-validations": [
        {
          rule: "self - oldSelf <= 2 && oldSelf - self <= 2",
          message: "sentinel.replicas can change by at most two at a time"
        }
      ]
    },
    quorum: {
      type: "integer",
      description: "Number of sentinels that must agree that the primary is down: more than half of all sentinels.",
      minimum: 2,
      maximum: 7,
      default: 2
    },
    downAfter: durationSchema(
      "Time without an answer after which a sentinel considers a node down.",
      "3s",
      "1s",
      "60s"
    ),
    failoverTimeout: durationSchema(
      "Time after which a failover that is not complete is tried again; longer than downAfter.",
      "15s",
      "3s",
      "10m"
    ),
    resources: computeSchema("a sentinel", { cpu: "20m", memory: "64Mi" }, sentinelMemory)
  }
};
var configSchema = {
  type: "object",
  description: "Directives of redis.conf. The operator sets all other directives.",
  default: {},
  properties: directiveProperties,
  "x-kubernetes-validations": [
    {
      rule: "(has(self.databases) ? self.databases : 16) >= (has(oldSelf.databases) ? oldSelf.databases : 16)",
      message: "config.databases can only grow"
    }
  ]
};
var accessSchema = {
  type: "object",
  description: "Access from outside of the Kubernetes cluster. The Services inside stay as they are. Connections are not encrypted.",
  properties: {
    primary: externalServiceSchema("the primary"),
    replicas: externalServiceSchema("the replicas")
  }
};
var defaultOverlap = "60m";
var authSchema = {
  type: "object",
  description: "Passwords of clients.",
  properties: {
    secretRef: {
      ...secretRefSchema,
      description: "Secret with the password. When absent, the operator generates a password."
    },
    overlap: durationSchema(
      "Time for which servers still accept a password that the Secret no longer names, once all of them accept those that it names.",
      defaultOverlap,
      "2m",
      "10080m"
    )
  }
};
var defaultVersion = "8.0";
var redisSpecSchema = {
  type: "object",
  description: "Desired state of the cluster.",
  properties: {
    engine: {
      type: "string",
      description: "Server of the cluster. It can change from Redis to Valkey while version is 7.2 or earlier, and not back.",
      enum: serverEngines,
      default: "Redis"
    },
    version: {
      type: "string",
      description: "Version of the server, major.minor: 7.0 or later of Redis, 7.2 or later of Valkey. It can only increase, by at most one major version at a time.",
      default: defaultVersion,
      maxLength: 32,
      "x-kubernetes-validations": versionRules
    },
    image: imageSchema(`${releasedImage("VERSION")} or ${releasedImage("VERSION", "Valkey")}`),
    mode: {
      type: "string",
      description: "Standalone: one Redis node without failover. Sentinel: a primary with replicas. Cluster: hash slots over several shards, each a primary with replicas. Immutable.",
      enum: ["Standalone", "Sentinel", "Cluster"],
      default: "Sentinel",
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "mode is immutable" }]
    },
    replicas: {
      type: "integer",
      description: "Number of Redis nodes, including the primary. Leave it out in mode Cluster.",
      minimum: 1,
      maximum: 9,
      default: 3
    },
    shards: shardsSchema,
    replicasPerShard: replicasPerShardSchema,
    sentinel: sentinelSchema,
    storage: storageSchema,
    resources: computeSchema("a Redis node", { cpu: "100m", memory: "512Mi" }, dataMemory),
    scheduling: schedulingSchema,
    pods: podsWithAccountSchema,
    access: accessSchema,
    networkPolicy: networkPolicySchema,
    config: configSchema,
    auth: authSchema,
    monitoring: monitoringSchema,
    backup: backupPolicySchema(),
    bootstrap: bootstrapSchema({}),
    deletionPolicy: deletionPolicySchema,
    paused: pausedSchema("The database runs, and Sentinel still performs failovers.")
  },
  "x-kubernetes-validations": [
    {
      rule: "self.mode != 'Standalone' || self.replicas == 1",
      message: "mode Standalone takes replicas: 1",
      fieldPath: ".replicas"
    },
    {
      rule: "self.mode == 'Cluster' || !has(self.config.min__dash__replicas__dash__to__dash__write) || self.config.min__dash__replicas__dash__to__dash__write < self.replicas",
      message: "config.min-replicas-to-write must be less than replicas"
    },
    {
      rule: "!has(self.config.maxmemory) || quantity(self.config.maxmemory.replace('kb', 'Ki').replace('mb', 'Mi').replace('gb', 'Gi')).compareTo(quantity(string(self.resources.limits.memory))) < 0",
      message: "config.maxmemory must be less than resources.limits.memory"
    },
    {
      rule: "self.sentinel.quorum <= self.sentinel.replicas && self.sentinel.quorum * 2 > self.sentinel.replicas",
      message: "sentinel.quorum must be more than half of sentinel.replicas, and no more than all of them",
      fieldPath: ".sentinel.quorum"
    },
    {
      rule: "duration(self.sentinel.failoverTimeout) > duration(self.sentinel.downAfter)",
      message: "sentinel.failoverTimeout must be longer than sentinel.downAfter",
      fieldPath: ".sentinel.failoverTimeout"
    },
    {
      rule: "!has(self.bootstrap) || !self.storage.ephemeral",
      message: "bootstrap.restore needs volumes, which storage.ephemeral has not",
      fieldPath: ".bootstrap"
    },
    {
      rule: "!has(self.access) || !has(self.access.replicas) || self.mode == 'Sentinel'",
      message: "access.replicas needs mode Sentinel: a single node has no replicas",
      fieldPath: ".access"
    },
    ...shardRules,
    ...bootstrapRules,
    ...backupPolicyRules,
    ...computeRules("resources", dataMemory),
    ...computeRules("sentinel.resources", sentinelMemory),
    ...exporterRules,
    ...engineRules,
    ...directiveRules
  ]
};
var redisStatusSchema = {
  ...statusSchema,
  properties: { ...statusSchema.properties, placement: placementStatusSchema }
};
var redisKind = {
  resource: { group, version, kind: "RedisCluster", plural: "redisclusters", namespaced: true },
  singular: "rediscluster",
  shortNames: ["rdc"],
  description: "A Redis database: a primary with replicas and Sentinel, a single node, or a Redis Cluster.",
  schema: {
    type: "object",
    description: "A Redis database: a primary with replicas and Sentinel, a single node, or a Redis Cluster.",
    required: ["spec"],
    properties: { metadata: metadataSchema, spec: redisSpecSchema, status: redisStatusSchema },
    "x-kubernetes-validations": [...storageRules, ...runningRules]
  },
  printerColumns: [
    ...stateColumns,
    { name: "Desired", type: "integer", jsonPath: ".spec.replicas", description: "Number of Redis nodes in the spec." },
    {
      name: "Up",
      type: "integer",
      jsonPath: ".status.readyReplicas",
      description: "Number of Redis nodes that are ready."
    },
    { name: "Version", type: "string", jsonPath: ".status.version", description: "Running version." },
    { name: "Primary", type: "string", jsonPath: ".status.primary", description: "Pod of the primary." },
    ...lifeColumns,
    { name: "Engine", type: "string", jsonPath: ".spec.engine", description: "Redis or Valkey.", priority: 1 },
    {
      name: "Mode",
      type: "string",
      jsonPath: ".spec.mode",
      description: "Standalone, Sentinel or Cluster.",
      priority: 1
    },
    {
      name: "Shards",
      type: "integer",
      jsonPath: ".spec.shards",
      description: "Number of shards, in mode Cluster.",
      priority: 1
    },
    {
      name: "Placement",
      type: "string",
      jsonPath: ".status.placement",
      description: "How the primaries are spread, in mode Cluster.",
      priority: 1
    },
    ...wideColumns
  ],
  selectableFields: databaseFields,
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector"
  }
};

// src/plan/difference.ts
import { createHash as createHash3 } from "node:crypto";

// src/plan/memoize.ts
function memoize(work) {
  const known = /* @__PURE__ */ new WeakMap();
  return (key) => {
    const found2 = known.get(key);
    if (found2 !== void 0) return found2.value;
    const value = work(key);
    known.set(key, { value });
    return value;
  };
}

// src/plan/difference.ts
var fingerprintAnnotation = "clusterwright.dev/desired";
function withoutClaimTemplates(object) {
  if (object.kind !== "StatefulSet") return object;
  const { volumeClaimTemplates: _, ...spec } = object.spec;
  return { ...object, spec };
}
var fingerprinted = memoize((object) => {
  const hash = createHash3("sha256").update(JSON.stringify(withoutClaimTemplates(object))).digest("hex").slice(0, 16);
  const annotations = { ...object.metadata.annotations, [fingerprintAnnotation]: hash };
  return { ...object, metadata: { ...object.metadata, annotations } };
});
var wholeKeys = ["selector", "podSelector", "ingress"];
var inWhole = new RegExp(`\\.(${wholeKeys.join("|")})([.[]|$)`);

// src/resources/compute.ts
function canonical2(amounts) {
  return Object.fromEntries(
    Object.entries(amounts).flatMap(
      ([name, amount]) => amount === void 0 ? [] : [[name, canonicalQuantity(amount)]]
    )
  );
}
function computeResources(spec) {
  return {
    ...spec.requests === void 0 ? {} : { requests: canonical2(spec.requests) },
    ...spec.limits === void 0 ? {} : { limits: canonical2(spec.limits) }
  };
}

// src/resources/image.ts
function imageOf({ imageRegistry }, named, released) {
  return named ?? inRegistry(released, imageRegistry);
}

// src/resources/podsecurity.ts
function podSecurityContextOf(uid) {
  return {
    runAsNonRoot: true,
    runAsUser: uid,
    runAsGroup: uid,
    fsGroup: uid,
    fsGroupChangePolicy: "OnRootMismatch",
    seccompProfile: { type: "RuntimeDefault" }
  };
}
var podSecurityContext = podSecurityContextOf(defaultUid);
var containerSecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] }
};

// src/engines/redis/client/identity.ts
var identityKey = "password";
var prefix = "clusterwright/";
function identityUser({ metadata }) {
  return `${prefix}${metadata.namespace}/${metadata.name}`;
}

// src/engines/redis/resources/exporter.ts
var exporterName = "exporter";
function exporterFiles({ spec }) {
  return spec.monitoring === void 0 ? {} : { "exporter.sh": texts["exporter.sh"] };
}
function exporterVolumes({ spec }) {
  return spec.monitoring === void 0 ? [] : [{ name: exporterName, emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }];
}
function exporterSidecar(cluster, port2) {
  const { monitoring } = cluster.spec;
  return monitoring === void 0 ? {} : { initContainers: [sidecar(cluster, monitoring, port2)] };
}
function sidecar(cluster, { image, resources }, port2) {
  const environment2 = {
    IDENTITY: identityUser(cluster),
    IDENTITY_FILE: `${paths.internal}/${identityKey}`,
    REDIS_PORT: String(port2),
    METRICS_PORT: String(exporterPort)
  };
  return {
    name: exporterName,
    image: imageOf(cluster, image, exporterImage),
    imagePullPolicy: "IfNotPresent",
    restartPolicy: "Always",
    command: ["/bin/sh", `${paths.config}/exporter.sh`],
    env: Object.entries(environment2).map(([name, value]) => ({ name, value })),
    ports: [{ name: "metrics", containerPort: exporterPort, protocol: "TCP" }],
    resources: computeResources(resources),
    securityContext: containerSecurityContext,
    volumeMounts: [
      { name: "config", mountPath: paths.config, readOnly: true },
      { name: identityVolume, mountPath: paths.internal, readOnly: true },
      { name: exporterName, mountPath: paths.exporter }
    ]
  };
}

// src/resources/metadata.ts
var managedBy = "clusterwright";
var managedByLabel = "app.kubernetes.io/managed-by";
var instanceLabel = "app.kubernetes.io/instance";
var nameLabel = "app.kubernetes.io/name";
var componentLabel = "app.kubernetes.io/component";
var shardLabel = "clusterwright.dev/shard";
var agentComponent = "agent";
var accessComponent = "access";
var networkComponent = "network";
function selectorLabels(cluster, part) {
  return {
    [nameLabel]: part.engine,
    [instanceLabel]: cluster.metadata.name,
    [componentLabel]: part.component,
    [managedByLabel]: managedBy
  };
}
function labels(cluster, part) {
  return {
    ...selectorLabels(cluster, part),
    "app.kubernetes.io/part-of": cluster.metadata.name,
    "app.kubernetes.io/version": part.version
  };
}
function ownerReferences(cluster) {
  const { name, uid } = cluster.metadata;
  if (uid === void 0) return [];
  return [
    { apiVersion: cluster.apiVersion, kind: cluster.kind, name, uid, controller: true, blockOwnerDeletion: true }
  ];
}
function ownedMetadata(cluster, name, part) {
  const owners = ownerReferences(cluster);
  return {
    name,
    namespace: cluster.metadata.namespace,
    labels: labels(cluster, part),
    ...owners.length > 0 ? { ownerReferences: owners } : {}
  };
}
function unownedMetadata(cluster, name, part) {
  return { name, namespace: cluster.metadata.namespace, labels: labels(cluster, part) };
}

// src/resources/pod-base.ts
function podBase({ uid = defaultUid, imagePullSecrets = [] } = {}) {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurityContextOf(uid),
    ...imagePullSecrets.length === 0 ? {} : { imagePullSecrets }
  };
}
function podAccount({
  serviceAccountName: name
}) {
  return name === void 0 ? {} : { serviceAccountName: name, serviceAccount: name };
}
function podMetadata(own, { labels: labels2, annotations } = {}) {
  const noted = { ...annotations, ...own.annotations };
  return {
    // The same object where nothing is added: there are many clusters.
    labels: labels2 === void 0 ? own.labels ?? {} : { ...labels2, ...own.labels },
    ...annotations === void 0 && own.annotations === void 0 ? {} : { annotations: noted }
  };
}

// src/resources/scheduling.ts
function schedulingFields(scheduling, selector2) {
  const { nodeSelector, tolerations, affinity, topologySpread, zoneSpread, priorityClassName } = scheduling;
  const spread = (topologyKey, how) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: how === "Required" ? "DoNotSchedule" : "ScheduleAnyway",
    labelSelector: { matchLabels: selector2 }
  });
  return {
    topologySpreadConstraints: [
      spread("kubernetes.io/hostname", topologySpread),
      ...zoneSpread === void 0 ? [] : [spread("topology.kubernetes.io/zone", zoneSpread)]
    ],
    ...nodeSelector === void 0 ? {} : { nodeSelector },
    ...tolerations === void 0 ? {} : { tolerations },
    ...affinity === void 0 ? {} : { affinity },
    ...priorityClassName === void 0 ? {} : { priorityClassName }
  };
}

// src/resources/statefulset.ts
function statefulSet(options) {
  const { metadata, selector: selector2, serviceName, replicas, podAnnotations: annotations, podSpec: podSpec2, pods, claims } = options;
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata,
    spec: {
      serviceName,
      replicas,
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
      revisionHistoryLimit: 3,
      selector: { matchLabels: selector2 },
      template: {
        metadata: podMetadata(
          { labels: metadata.labels ?? {}, ...annotations === void 0 ? {} : { annotations } },
          pods
        ),
        spec: podSpec2
      },
      ...claims.length === 0 ? {} : {
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        volumeClaimTemplates: claims.map((claim) => ({
          metadata: { name: claim.name, labels: claim.labels },
          spec: {
            accessModes: ["ReadWriteOnce"],
            resources: { requests: { storage: claim.size } },
            ...claim.storageClassName === void 0 ? {} : { storageClassName: claim.storageClassName }
          }
        }))
      }
    }
  };
}

// src/resources/secret.ts
function generatedSecret(metadata, around) {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata,
    type: "Opaque",
    ...around === void 0 ? {} : { stringData: around }
  };
}
function bindingOf(type3) {
  return { type: type3, provider: "clusterwright" };
}

// src/engines/redis/client/password.ts
function passwordSecret(cluster) {
  return cluster.spec.auth?.secretRef ?? { name: redisNames(cluster.metadata.name).auth, key: "password" };
}

// src/engines/redis/resources/pods.ts
var configHashAnnotation = "clusterwright.dev/restart-hash";
var authVolume = "auth";
var identityEnv = "IDENTITY_FILE";
var admissionTries = 86400;
var dataGraceSeconds = 45;
function script(name) {
  return ["/bin/sh", `${paths.config}/${name}`];
}
function probe(name, timing) {
  return { exec: { command: script(name) }, timeoutSeconds: 5, ...timing };
}
function fromField(name, fieldPath) {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}
function redisImage(cluster) {
  const { engine, image, version: version2 } = cluster.spec;
  return imageOf(cluster, image, releasedImage(version2, engine));
}
function programEnv({ spec }) {
  return spec.engine === "Redis" ? [] : [{ name: "SERVER", value: releases[spec.engine].program }];
}
function container(cluster, name) {
  return {
    name,
    image: redisImage(cluster),
    imagePullPolicy: "IfNotPresent",
    env: [
      { name: "CLUSTER_NAME", value: cluster.metadata.name },
      { name: "CONFIG_DIR", value: paths.config },
      { name: "AUTH_FILE", value: `${paths.auth}/password` },
      { name: identityEnv, value: `${paths.internal}/${identityKey}` },
      fromField("POD_NAME", "metadata.name"),
      fromField("POD_NAMESPACE", "metadata.namespace"),
      fromField("POD_IP", "status.podIP"),
      ...programEnv(cluster)
    ],
    securityContext: containerSecurityContext,
    volumeMounts: [
      { name: "config", mountPath: paths.config, readOnly: true },
      { name: authVolume, mountPath: paths.auth, readOnly: true },
      { name: identityVolume, mountPath: paths.internal, readOnly: true },
      { name: "run", mountPath: paths.run },
      { name: "tmp", mountPath: "/tmp" }
    ]
  };
}
function passwordVolume({ name, key }) {
  return { name: authVolume, secret: { secretName: name, items: [{ key, path: "password" }] } };
}
function volumes(cluster) {
  const names2 = redisNames(cluster.metadata.name);
  const identity2 = [{ key: identityKey, path: identityKey }];
  return [
    { name: "config", configMap: { name: names2.config } },
    passwordVolume(passwordSecret(cluster)),
    { name: identityVolume, secret: { secretName: names2.internal, items: identity2 } },
    { name: "run", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
    { name: "tmp", emptyDir: { sizeLimit: "16Mi" } }
  ];
}
function podSpec(cluster, scheduling, spec) {
  return {
    ...podAccount(cluster.spec.pods),
    ...podBase(cluster.spec.pods),
    ...scheduling,
    ...spec
  };
}
var ownScripts = {
  start: "start-data.sh",
  startup: "admit.sh",
  ready: "ping.sh",
  preStop: "hand-over.sh"
};
function dataStatefulSet(cluster, part, restartHash2) {
  const metadata = ownedMetadata(cluster, redisNames(cluster.metadata.name).data, part);
  const scheduling = schedulingFields(cluster.spec.scheduling, selectorLabels(cluster, part));
  return dataSet(cluster, {
    metadata,
    selector: selectorLabels(cluster, part),
    replicas: cluster.spec.replicas,
    restartHash: restartHash2,
    scripts: ownScripts,
    ports: [redisPort],
    scheduling
  });
}
var redisPort = { name: "redis", containerPort: dataPort, protocol: "TCP" };
function dataSet(cluster, options) {
  const { spec } = cluster;
  const { metadata, selector: selector2, replicas, restartHash: restartHash2, scripts: scripts2, ports, scheduling } = options;
  const base = container(cluster, "redis");
  const redis = {
    ...base,
    command: script(scripts2.start),
    // Not from the ConfigMap, which somebody may cut short: data in a database that is not there would go astray.
    env: [...base.env ?? [], { name: "DATABASES", value: restartSettings(cluster).databases ?? "" }],
    ports,
    resources: computeResources(spec.resources),
    startupProbe: probe(scripts2.startup, { periodSeconds: 1, failureThreshold: admissionTries }),
    readinessProbe: probe(scripts2.ready, { periodSeconds: 5, failureThreshold: 2 }),
    livenessProbe: probe("alive.sh", { periodSeconds: 10, failureThreshold: 6 }),
    lifecycle: { preStop: { exec: { command: script(scripts2.preStop) } } },
    volumeMounts: [...base.volumeMounts ?? [], { name: "data", mountPath: paths.data }]
  };
  const { size: size2, storageClassName: storageClassName2, ephemeral } = spec.storage;
  return statefulSet({
    metadata,
    selector: selector2,
    serviceName: redisNames(cluster.metadata.name).data,
    replicas,
    podAnnotations: { [configHashAnnotation]: restartHash2 },
    pods: cluster.spec.pods,
    podSpec: podSpec(cluster, scheduling, {
      terminationGracePeriodSeconds: dataGraceSeconds,
      ...exporterSidecar(cluster, dataPort),
      containers: [redis],
      volumes: [
        ...volumes(cluster),
        ...exporterVolumes(cluster),
        ...ephemeral ? [{ name: "data", emptyDir: { sizeLimit: canonicalQuantity(size2) } }] : []
      ]
    }),
    claims: ephemeral ? [] : [
      {
        name: "data",
        labels: selector2,
        size: canonicalQuantity(size2),
        ...storageClassName2 === void 0 ? {} : { storageClassName: storageClassName2 }
      }
    ]
  });
}
function sentinelStatefulSet(cluster, part) {
  const names2 = redisNames(cluster.metadata.name);
  const sentinel = {
    ...container(cluster, "sentinel"),
    command: script("start-sentinel.sh"),
    ports: [{ name: "sentinel", containerPort: sentinelPort, protocol: "TCP" }],
    resources: computeResources(cluster.spec.sentinel.resources),
    startupProbe: probe("watching.sh", { periodSeconds: 1, failureThreshold: admissionTries }),
    readinessProbe: probe("watching.sh", { periodSeconds: 10, failureThreshold: 2 }),
    livenessProbe: probe("sentinel-alive.sh", { periodSeconds: 10, failureThreshold: 6 })
  };
  return statefulSet({
    metadata: ownedMetadata(cluster, names2.sentinel, part),
    selector: selectorLabels(cluster, part),
    serviceName: names2.sentinel,
    replicas: cluster.spec.sentinel.replicas,
    pods: cluster.spec.pods,
    podSpec: podSpec(cluster, schedulingFields(cluster.spec.scheduling, selectorLabels(cluster, part)), {
      terminationGracePeriodSeconds: 10,
      ...exporterSidecar(cluster, sentinelPort),
      containers: [sentinel],
      volumes: [...volumes(cluster), ...exporterVolumes(cluster)]
    }),
    claims: []
  });
}

// src/engines/redis/plan/held-template.ts
var specOf = (object) => object.spec;
function withPod(object, change) {
  const spec = specOf(object);
  return { ...object, spec: { ...spec, template: { ...spec.template, spec: change(spec.template.spec) } } };
}
var withoutIdentity = memoize((object) => {
  const strip = (container2) => ({
    ...container2,
    env: (container2.env ?? []).filter(({ name }) => name !== identityEnv),
    volumeMounts: (container2.volumeMounts ?? []).filter(({ name }) => name !== identityVolume)
  });
  const isLeftOut = ({ name }) => name === identityVolume || name === exporterName;
  return withPod(object, ({ initContainers: _, ...pod }) => ({
    ...pod,
    containers: pod.containers.map(strip),
    volumes: (pod.volumes ?? []).filter((volume) => !isLeftOut(volume))
  }));
});

// src/plan/access.ts
var accessMayFail = { optional: true, finding: "AccessRefused" };
function accessChildren(objects) {
  return objects.map((object) => ({ object, mayFail: accessMayFail }));
}

// src/resources/configmap.ts
function configMap(metadata, data) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

// src/resources/disruptionbudget.ts
function disruptionBudget(metadata, selector2, unready = "IfHealthyBudget") {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: {
      maxUnavailable: 1,
      selector: { matchLabels: selector2 },
      // What is the default is left out: a policy of the Kubernetes cluster may set it.
      ...unready === "IfHealthyBudget" ? {} : { unhealthyPodEvictionPolicy: unready }
    }
  };
}

// src/resources/operator-pods.ts
var defaultOperatorNamespace = "clusterwright-system";
var operatorLabels = {
  "app.kubernetes.io/name": "clusterwright",
  "app.kubernetes.io/component": "operator",
  "app.kubernetes.io/part-of": "clusterwright"
};

// src/resources/network-policy.ts
function networkPolicy(cluster, wanted, options) {
  if (wanted === void 0) return [];
  const { metadata, operatorNamespace = defaultOperatorNamespace } = cluster;
  const { part, ports } = options;
  const ofCluster = { [nameLabel]: part.engine, [instanceLabel]: metadata.name, [managedByLabel]: managedBy };
  const agents = { [componentLabel]: agentComponent, [managedByLabel]: managedBy };
  const rule = (from, open) => from.length === 0 || open.length === 0 ? [] : [{ from, ports: open.map((port2) => ({ port: port2, protocol: "TCP" })) }];
  const policy = {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: ownedMetadata(cluster, metadata.name, { ...part, component: networkComponent }),
    spec: {
      podSelector: { matchLabels: ofCluster },
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: [
            { podSelector: { matchLabels: ofCluster } },
            { podSelector: { matchLabels: agents } },
            {
              namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": operatorNamespace } },
              podSelector: { matchLabels: operatorLabels }
            }
          ]
        },
        ...rule(wanted.clients.map(peer), ports.clients),
        ...rule(wanted.metrics.map(peer), ports.metrics)
      ]
    }
  };
  return [policy];
}
function peer({ all: all2, namespaceSelector, podSelector, ipBlock }) {
  if (all2 !== void 0) return all2 === "Namespace" ? { podSelector: {} } : { namespaceSelector: {} };
  return {
    ...namespaceSelector === void 0 ? {} : { namespaceSelector: selector(namespaceSelector) },
    ...podSelector === void 0 ? {} : { podSelector: selector(podSelector) },
    ...ipBlock === void 0 ? {} : { ipBlock }
  };
}
function selector({ matchLabels, matchExpressions = [] }) {
  return {
    ...matchLabels === void 0 ? {} : { matchLabels },
    ...matchExpressions.length === 0 ? {} : { matchExpressions: matchExpressions.map(requirement) }
  };
}
function requirement({ key, operator, values = [] }) {
  return { key, operator, ...values.length === 0 ? {} : { values } };
}

// src/resources/service.ts
function headlessService({ metadata, selector: selector2, ports }) {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { clusterIP: "None", publishNotReadyAddresses: true, selector: selector2, ports }
  };
}
function clusterIPService({ metadata, selector: selector2, ports, unready }) {
  const more = unready === true ? { publishNotReadyAddresses: true } : {};
  return { apiVersion: "v1", kind: "Service", metadata, spec: { type: "ClusterIP", selector: selector2, ports, ...more } };
}

// src/resources/external-service.ts
function externalService(wanted, options) {
  const { type: type3, annotations, nodePort, loadBalancerClass, sourceRanges, appProtocol } = wanted;
  const { externalTrafficPolicy, trafficDistribution, ipFamilyPolicy, ipFamilies } = wanted;
  const { metadata, selector: selector2, port: port2, unready } = options;
  const isAnnotated = Object.keys(annotations).length > 0;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...metadata, ...isAnnotated ? { annotations } : {} },
    spec: {
      type: type3,
      selector: selector2,
      ports: [
        {
          ...port2,
          ...nodePort === void 0 ? {} : { nodePort },
          ...appProtocol === void 0 ? {} : { appProtocol }
        }
      ],
      ...unready ? { publishNotReadyAddresses: true } : {},
      ...loadBalancerClass === void 0 ? {} : { loadBalancerClass },
      ...sourceRanges.length === 0 ? {} : { loadBalancerSourceRanges: sourceRanges },
      ...externalTrafficPolicy === void 0 ? {} : { externalTrafficPolicy },
      ...trafficDistribution === void 0 ? {} : { trafficDistribution },
      ...ipFamilyPolicy === void 0 ? {} : { ipFamilyPolicy },
      ...ipFamilies === void 0 ? {} : { ipFamilies }
    }
  };
}

// src/engines/redis/resources/access-services.ts
function accessServices(cluster) {
  const { metadata, spec } = cluster;
  const names2 = redisNames(metadata.name);
  const part = { engine: "redis", component: accessComponent, version: spec.version };
  const data = selectorLabels(cluster, { engine: "redis", component: "data" });
  const port2 = { name: "redis", port: dataPort, targetPort: "redis", protocol: "TCP" };
  const service = (name, wanted, role) => wanted === void 0 ? [] : [
    externalService(wanted, {
      metadata: ownedMetadata(cluster, `${name}-external`, part),
      selector: { ...data, [roleLabel]: role },
      port: port2,
      unready: false
    })
  ];
  return [
    ...service(names2.primary, spec.access?.primary, "primary"),
    ...service(names2.replicas, spec.access?.replicas, "replica")
  ];
}

// src/engines/redis/resources/secrets.ts
var passwordLength = 32;
function secretsOf(cluster, service) {
  const { metadata, spec } = cluster;
  const names2 = redisNames(metadata.name);
  const data = { engine: "redis", component: "data", version: spec.version };
  const internal = {
    object: generatedSecret(unownedMetadata(cluster, names2.internal, data)),
    generate: [{ key: identityKey, length: passwordLength, isOursAlone: true }]
  };
  if (spec.auth?.secretRef !== void 0) return [internal];
  return [
    {
      object: generatedSecret(unownedMetadata(cluster, names2.auth, data), connectionValues(cluster, service)),
      generate: [{ key: "password", length: passwordLength }]
    },
    internal
  ];
}
function connectionValues({ metadata }, service) {
  const host = `${service}.${metadata.namespace}.svc`;
  const username = "default";
  const uri = `redis://${username}:{password}@${host}:${dataPort}`;
  return { ...bindingOf("redis"), host, port: String(dataPort), username, uri };
}

// src/engines/redis/resources/shards/names.ts
function shardSetName(cluster, shard) {
  return `${cluster}-s${shard}`;
}

// src/engines/redis/resources/shards/resources.ts
var podScripts = {
  start: "start-shard.sh",
  startup: "admit-shard.sh",
  ready: "ready-shard.sh",
  preStop: "hand-over-shard.sh"
};
function shardedResources(cluster) {
  const { spec, metadata } = cluster;
  const names2 = redisNames(metadata.name);
  const part = { engine: "redis", component: "data", version: spec.version };
  const selector2 = selectorLabels(cluster, part);
  const ports = [{ name: "redis", port: dataPort, targetPort: "redis", protocol: "TCP" }];
  const shards = Array.from({ length: shardsOf(spec) }, (_, shard) => shard);
  const objects = [
    configMap(ownedMetadata(cluster, names2.config, part), { ...configFiles(cluster), ...exporterFiles(cluster) }),
    headlessService({ metadata: ownedMetadata(cluster, names2.data, part), selector: selector2, ports }),
    clusterIPService({ metadata: ownedMetadata(cluster, names2.nodes, part), selector: selector2, ports }),
    // One for all: at most one pod may be evicted, so a majority of the primaries stays, and no shard loses two nodes at once.
    disruptionBudget(ownedMetadata(cluster, names2.data, part), selector2),
    ...shards.map((shard) => shardStatefulSet(cluster, part, shard))
  ];
  return [
    ...secretsOf(cluster, names2.nodes),
    ...objects.map((object) => ({ object })),
    ...accessChildren(
      networkPolicy(cluster, spec.networkPolicy, { part, ports: { clients: [dataPort], metrics: [exporterPort] } })
    )
  ];
}
function shardStatefulSet(cluster, part, shard) {
  const name = shardSetName(cluster.metadata.name, shard);
  const own = { [shardLabel]: name };
  const metadata = ownedMetadata(cluster, name, part);
  return dataSet(cluster, {
    metadata: { ...metadata, labels: { ...metadata.labels, ...own } },
    selector: { ...selectorLabels(cluster, part), ...own },
    replicas: replicasPerShardOf(cluster.spec) + 1,
    restartHash: restartHash(cluster),
    scripts: podScripts,
    ports: [redisPort, { name: "bus", containerPort: busPort, protocol: "TCP" }],
    scheduling: schedulingOf(cluster, part, own)
  });
}
function schedulingOf(cluster, part, own) {
  const { scheduling } = cluster.spec;
  const all2 = selectorLabels(cluster, part);
  const fields2 = schedulingFields(scheduling, { ...all2, ...own });
  const { topologySpreadConstraints: wide = [] } = schedulingFields({ topologySpread: "Preferred" }, all2);
  return { ...fields2, topologySpreadConstraints: [...fields2.topologySpreadConstraints ?? [], ...wide] };
}
function configFiles(cluster) {
  const { spec, metadata } = cluster;
  const ordinals = Array.from({ length: replicasPerShardOf(spec) + 1 }, (_, ordinal2) => ordinal2);
  const shards = Array.from({ length: shardsOf(spec) }, (_, shard) => shardSetName(metadata.name, shard));
  const peers = ordinals.flatMap((ordinal2) => shards.map((set2) => `${set2}-${ordinal2}.${metadata.name}`));
  return { ...shardScripts, "redis.conf": redisConf(cluster), sentinels: "", peers: `${peers.join("\n")}
` };
}

// src/engines/redis/resources/timing.ts
var askingMs = 500;
var ampleMs = 3e3;
var leastMissedMs = 1200;
function timingOf({ spec }) {
  const downAfterMs = durationMs(spec.sentinel.downAfter);
  return {
    missedMs: Math.min(1500, Math.max(leastMissedMs, Math.floor(downAfterMs / 2))),
    infoPeriodMs: Math.min(2e3, Math.floor(downAfterMs * 2 / 3)),
    askWithinMs: Math.min(3e3, downAfterMs - askingMs),
    isEnoughToLeave: downAfterMs >= ampleMs
  };
}

// src/engines/redis/resources/resources.ts
var redisResources = memoize(
  (cluster) => cluster.spec.mode === "Cluster" ? shardedResources(cluster) : singleResources(cluster)
);
function singleResources(cluster) {
  const { spec } = cluster;
  const names2 = redisNames(cluster.metadata.name);
  const withSentinel = spec.mode === "Sentinel";
  const data = { engine: "redis", component: "data", version: spec.version };
  const sentinel = { ...data, component: "sentinel" };
  const dataSelector = selectorLabels(cluster, data);
  const sentinelSelector = selectorLabels(cluster, sentinel);
  const redisPorts = [{ name: "redis", port: dataPort, targetPort: "redis", protocol: "TCP" }];
  const sentinelPorts = [{ name: "sentinel", port: sentinelPort, targetPort: "sentinel", protocol: "TCP" }];
  const roleService = (name, role) => clusterIPService({
    metadata: ownedMetadata(cluster, name, data),
    selector: { ...dataSelector, [roleLabel]: role },
    ports: redisPorts
  });
  const objects = [
    {
      object: configMap(ownedMetadata(cluster, names2.config, data), {
        ...configFiles2(cluster),
        ...exporterFiles(cluster)
      })
    },
    {
      object: headlessService({
        metadata: ownedMetadata(cluster, names2.data, data),
        selector: dataSelector,
        ports: redisPorts
      })
    },
    { object: roleService(names2.primary, "primary") },
    { object: disruptionBudget(ownedMetadata(cluster, names2.data, data), dataSelector) },
    { object: dataStatefulSet(cluster, data, restartHash(cluster)) }
  ];
  objects.unshift(...secretsOf(cluster, names2.primary));
  if (withSentinel) {
    objects.push(
      { object: roleService(names2.replicas, "replica") },
      {
        object: headlessService({
          metadata: ownedMetadata(cluster, names2.sentinel, sentinel),
          selector: sentinelSelector,
          ports: sentinelPorts
        })
      },
      { object: disruptionBudget(ownedMetadata(cluster, names2.sentinel, sentinel), sentinelSelector) },
      { object: sentinelStatefulSet(cluster, sentinel) }
    );
  }
  const ports = { clients: [dataPort, ...withSentinel ? [sentinelPort] : []], metrics: [exporterPort] };
  objects.push(
    ...accessChildren([
      ...accessServices(cluster),
      ...networkPolicy(cluster, spec.networkPolicy, { part: data, ports })
    ])
  );
  return objects;
}
function configFiles2(cluster) {
  const { spec } = cluster;
  const names2 = redisNames(cluster.metadata.name);
  if (spec.mode === "Standalone") {
    const ephemeral = spec.storage.ephemeral ? { ephemeral: "yes\n" } : {};
    return { ...scripts, "redis.conf": redisConf(cluster), sentinels: "", ...ephemeral };
  }
  const { missedMs, infoPeriodMs, askWithinMs } = timingOf(cluster);
  const hosts = Array.from({ length: spec.sentinel.replicas }, (_, i2) => `${names2.sentinel}-${i2}.${names2.sentinel}`);
  return {
    ...scripts,
    "redis.conf": redisConf(cluster),
    sentinels: `${hosts.join("\n")}
`,
    quorum: `${spec.sentinel.quorum}
`,
    "missed-ms": `${missedMs}
`,
    "info-period-ms": `${infoPeriodMs}
`,
    "ask-within-ms": `${askWithinMs}
`,
    "sentinel.conf": sentinelConf(cluster)
  };
}

// src/resources/children.ts
function childrenOf(objects) {
  const get2 = (kind, name) => objects.find((o2) => o2.kind === kind && o2.metadata.name === name);
  const pods = objects.filter((o2) => o2.kind === "Pod").sort(byOrdinal);
  const sets = objects.filter((o2) => o2.kind === "StatefulSet");
  const isRelabelled = (pod) => sets.some((set2) => hasLostLabels(pod, set2));
  const isJobs = (pod) => isJobPod(pod) && !isRelabelled(pod);
  return {
    objects,
    get: get2,
    pods: pods.filter((pod) => !isJobs(pod) && (isOfSet(pod) || isRelabelled(pod))),
    jobPods: pods.filter(isJobs),
    jobs: objects.filter((o2) => o2.kind === "Job"),
    claims: objects.filter((o2) => o2.kind === "PersistentVolumeClaim").sort(byOrdinal),
    statefulSet: (name) => get2("StatefulSet", name)
  };
}
function isJobPod({ metadata }) {
  return metadata.labels?.[componentLabel] === agentComponent;
}
function isOfSet({ metadata: { name, labels: labels2 = {} } }) {
  const cluster = labels2[instanceLabel];
  if (cluster === void 0 || !name.startsWith(`${cluster}-`)) return cluster === void 0;
  return /^([a-z]+-|s\d{1,2}-)?(\d{1,3}|\d+-0)$/.test(name.slice(cluster.length + 1));
}
function hasLostLabels(pod, set2) {
  const { name, labels: labels2 = {} } = set2.metadata;
  const ordinal2 = pod.metadata.name.startsWith(`${name}-`) ? pod.metadata.name.slice(name.length + 1) : "";
  const isSame = (label) => pod.metadata.labels?.[label] === labels2[label];
  return /^\d{1,3}$/.test(ordinal2) && !(isSame(instanceLabel) && isSame(componentLabel));
}
function byOrdinal(a, b2) {
  const [left, right] = [withoutOrdinal(a), withoutOrdinal(b2)];
  return left === right ? ordinalOf(a) - ordinalOf(b2) : left < right ? -1 : 1;
}
function withoutOrdinal(object) {
  return object.metadata.name.replace(/-\d+$/, "");
}
var noChildren = childrenOf([]);
function ordinalOf(pod) {
  return Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? Number.NaN);
}

// test/support/redis-situation.ts
function redisCluster(spec = {}, metadata = {}, status) {
  const verdict = validateCluster(redisKind, {
    apiVersion: "clusterwright.dev/v1alpha1",
    kind: "RedisCluster",
    metadata: { name: "db", namespace: "apps", uid: "uid-db", generation: 1, resourceVersion: "1", ...metadata },
    spec,
    ...status === void 0 ? {} : { status }
  });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster;
}

// test/support/until.ts
async function until(what, ask, patience = {}) {
  const { withinMs = 12e4, everyMs = 100 } = patience;
  const deadline = performance.now() + withinMs;
  for (; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, everyMs));
        continue;
      }
      if (error instanceof Error) error.message = `${what}: not within ${withinMs} ms
${error.message}`;
      throw error;
    }
  }
}

// test/engines/redis/shards/real-shard-scripts.test.ts
var identityPassword = "identity";
var networks = 0;
var running = /* @__PURE__ */ new Set();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
function stage(program2) {
  networks++;
  const prefix2 = `127.${20 + process.pid % 200}.${((process.pid >> 8) * 16 + 100 + networks) % 250}`;
  const root = mkdtempSync2(join4(tmpdir2(), "shard-scripts-"));
  const names2 = ["db-s0-0", "db-s0-1", "db-s1-0", "db-s2-0"];
  const conf = redisConf(redisCluster({ mode: "Cluster", engine: program2.engine, version: program2.version }));
  let hosts = 0;
  let pods = [];
  const environment2 = ({ name, address, root: own }) => ({
    PATH: [programFolder(program2), process.env.PATH].join(delimiter2),
    SERVER: releases[program2.engine].program,
    CONFIG_DIR: join4(own, "config"),
    AUTH_FILE: join4(own, "password"),
    IDENTITY_FILE: join4(own, "identity"),
    CLUSTER_NAME: "db",
    POD_NAME: name,
    POD_NAMESPACE: "apps",
    POD_IP: address,
    DATABASES: "1"
  });
  function startAll() {
    pods = names2.map((name) => ({ name, address: `${prefix2}.${++hosts}`, root: join4(root, name) }));
    for (const pod of pods) {
      rmSync2(join4(pod.root, "run"), { recursive: true, force: true });
      for (const folder of ["config", "data", "run"]) mkdirSync3(join4(pod.root, folder), { recursive: true });
      const inPlace = (text2) => text2.replaceAll("/run/redis", join4(pod.root, "run")).replaceAll("/data/", `${join4(pod.root, "data")}/`).replaceAll("dir /data", `dir ${join4(pod.root, "data")}`).replaceAll("ask 2 -p 6379", `ask 2 -h ${pod.address} -p 6379`).replaceAll('"$cli" -p 6379', `"$cli" -h ${pod.address} -p 6379`).replaceAll('"$cli" -p "$1"', `"$cli" -h ${pod.address} -p "$1"`);
      for (const [file, text2] of Object.entries(shardScripts)) writeFileSync2(join4(pod.root, "config", file), inPlace(text2));
      const own = conf.replace(/^bind .*$/m, `bind ${pod.address}`).replace(/^dir .*$/m, "");
      const files = { "redis.conf": own, sentinels: "", peers: `${pods.map(({ address }) => address).join("\n")}
` };
      for (const [file, text2] of Object.entries(files)) writeFileSync2(join4(pod.root, "config", file), text2);
      writeFileSync2(join4(pod.root, "password"), "secret\n");
      writeFileSync2(join4(pod.root, "identity"), `${identityPassword}
`);
      const child = spawn2("/bin/sh", [join4(pod.root, "config", "start-shard.sh")], {
        env: environment2(pod),
        stdio: "ignore"
      });
      running.add(child);
      child.once("exit", () => running.delete(child));
      pod.child = child;
    }
  }
  function podOf(name) {
    const pod = pods.find((one) => one.name === name);
    if (pod === void 0) throw new Error(`there is no pod ${name}`);
    return pod;
  }
  return {
    names: names2,
    startAll,
    killAll: () => Promise.all(pods.map(({ child }) => stopped(child))),
    address: (name) => podOf(name).address,
    data: (name, file) => join4(root, name, "data", file),
    run(name, script2) {
      const pod = podOf(name);
      return spawnSync2("/bin/sh", [join4(pod.root, "config", script2)], { env: environment2(pod), encoding: "utf8" }).status;
    },
    ask(name, ...command) {
      return cli(podOf(name), ["--user", "clusterwright/apps/db", ...command], identityPassword);
    },
    client: (name, ...command) => cli(podOf(name), command, "secret"),
    close() {
      for (const { child } of pods) child?.kill("SIGKILL");
      rmSync2(root, { recursive: true, force: true, maxRetries: 10 });
    }
  };
  function cli({ address }, args, password) {
    const [command, ...first] = program2.cli;
    const env = { ...process.env, REDISCLI_AUTH: password };
    return spawnSync2(command, [...first, "-h", address, ...args], { encoding: "utf8", env }).stdout.trim();
  }
}
async function stopped(child) {
  if (child === void 0 || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])("scripts of shards with $name", (program2) => {
  let pods;
  afterEach(() => pods?.close());
  async function formed() {
    const made = stage(program2);
    pods = made;
    made.startAll();
    await until("all answer", () => {
      for (const name of made.names) expect2(made.ask(name, "PING")).toBe("PONG");
    });
    const slots = { "db-s0-0": "0 5460", "db-s1-0": "5461 10922", "db-s2-0": "10923 16383" };
    for (const [name, range] of Object.entries(slots)) {
      expect2(made.ask(name, "CLUSTER", "ADDSLOTSRANGE", ...range.split(" "))).toBe("OK");
    }
    for (const name of made.names.slice(1)) made.ask("db-s0-0", "CLUSTER", "MEET", made.address(name), "6379");
    const id = made.ask("db-s0-0", "CLUSTER", "MYID");
    await until("the replica follows", () => expect2(made.ask("db-s0-1", "CLUSTER", "REPLICATE", id)).toBe("OK"));
    await whole(made);
    return made;
  }
  async function whole(made) {
    await until("it is whole", () => {
      for (const name of made.names) {
        made.run(name, "ready-shard.sh");
        expect2(made.ask(name, "CLUSTER", "INFO")).toContain("cluster_state:ok");
      }
      expect2(made.ask("db-s0-1", "INFO", "replication") + made.ask("db-s0-0", "INFO", "replication")).toContain(
        "master_link_status:up"
      );
    });
  }
  it("C5: all pods at new addresses find each other by name; a primary hands over when it stops", async () => {
    const made = await formed();
    const ids = made.names.map((name) => made.ask(name, "CLUSTER", "MYID"));
    await made.killAll();
    made.startAll();
    await whole(made);
    expect2(made.names.map((name) => made.ask(name, "CLUSTER", "MYID"))).toEqual(ids);
    expect2(made.names.map((name) => made.run(name, "admit-shard.sh"))).toEqual([0, 0, 0, 0]);
    await until("the replica may take over", () => {
      made.run("db-s0-1", "ready-shard.sh");
      expect2(made.ask("db-s0-1", "CONFIG", "GET", "cluster-replica-no-failover")).toContain("no");
      expect2(made.run("db-s0-0", "hand-over-shard.sh")).toBe(0);
      expect2(made.ask("db-s0-0", "ROLE")).toMatch(/^slave/);
    });
  }, 24e4);
  it("the user of clients may read the cluster and not change it", async () => {
    const made = await formed();
    expect2(made.client("db-s0-0", "CLUSTER", "NODES")).toContain("myself");
    for (const command of [["CLUSTER", "RESET"], ["CLUSTER", "MEET", "127.0.0.1", "1"], ["CLUSTER", "FAILOVER"]]) {
      expect2(made.client("db-s0-1", ...command)).toMatch(/NOPERM/);
    }
  }, 12e4);
  it("a node without its data comes back as another one, which has no slots", async () => {
    const made = await formed();
    const before = made.ask("db-s1-0", "CLUSTER", "MYID");
    await made.killAll();
    rmSync2(made.data("db-s1-0", "appendonlydir"), { recursive: true });
    rmSync2(made.data("db-s2-0", "nodes.conf"));
    made.startAll();
    await until("they answer", () => {
      for (const name of made.names) expect2(made.ask(name, "PING")).toBe("PONG");
    });
    expect2(made.ask("db-s1-0", "CLUSTER", "MYID")).not.toBe(before);
    for (const name of ["db-s1-0", "db-s2-0"]) {
      expect2(made.ask(name, "CLUSTER", "INFO")).toContain("cluster_slots_assigned:0");
      expect2(made.run(name, "admit-shard.sh")).not.toBe(0);
    }
    expect2(existsSync3(made.data("db-s1-0", "nodes.conf.without-data"))).toBe(true);
    expect2(existsSync3(made.data("db-s2-0", "appendonlydir.without-nodes"))).toBe(true);
  }, 12e4);
});
/*! Bundled license information:

@vitest/pretty-format/dist/index.js:
  (**
   * @license React
   * react-is.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)
  (**
   * @license React
   * react-is.production.min.js
   *
   * Copyright (c) Facebook, Inc. and its affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)
*/
