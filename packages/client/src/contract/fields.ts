import * as z from "zod/mini";
import { type Cents, MAX_AMOUNT_CENTS } from "./money.js";
import { Secret } from "./secret.js";

/** A field: its API name, and the codec between its encoded form and ours. */
interface Field<Wire extends string = string, Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly wire: Wire;
  readonly schema: Schema;
}

type Fields = Record<string, Field>;
type WireShape<F extends Fields> = { [K in keyof F as F[K]["wire"]]: F[K]["schema"] };
type OptionalKeys<F extends Fields> = {
  [K in keyof F]: undefined extends z.output<F[K]["schema"]> ? K : never;
}[keyof F];
type Named<F extends Fields> = {
  [K in Exclude<keyof F, OptionalKeys<F>>]: z.output<F[K]["schema"]>;
} & { [K in OptionalKeys<F>]?: z.output<F[K]["schema"]> };
type Flat<T> = { [K in keyof T]: T[K] };

/** Defines a field by its API name and its schema. */
export function field<const W extends string, S extends z.ZodMiniType>(wire: W, schema: S): Field<W, S> {
  return { wire, schema };
}

/**
 * Creates a codec between an object with API names and the same object with our names. `z.decode` reads the API's form,
 * `z.encode` writes it. Faults have the API's path.
 */
export function object<F extends Fields>(fields: F) {
  const shape = Object.fromEntries(Object.values(fields).map((f) => [f.wire, f.schema])) as WireShape<F>;
  const rename = (value: object, from: "wire" | "name") => {
    const source = value as Record<string, unknown>;
    const pairs = Object.entries(fields).map(([name, { wire }]) =>
      from === "wire" ? [name, source[wire]] : [wire, source[name]],
    );
    return Object.fromEntries(pairs.filter(([, v]) => v !== undefined));
  };
  return z.codec(
    z.object(shape, "must be an object"),
    z.custom<Flat<Named<F>>>((v) => typeof v === "object" && v !== null),
    {
      decode: (wire) => rename(wire, "wire") as Flat<Named<F>>,
      encode: (named) => rename(named, "name") as never,
    },
  );
}

/** A string, with faults that a caller can understand. */
const string = () =>
  z.string({
    error: ({ code, input }) =>
      code === "invalid_type" ? (input === undefined ? "is required" : "must be a string") : undefined,
  });

const atMost = (length: number) => z.maxLength(length, `must be at most ${length} characters`);
const notEmpty = z.minLength(1, "must not be empty");

const digits = z.string().check(z.regex(/^\d{1,15}$/, "must be a whole number"));
const endsWithBreak = /[\r\n]$/;
/** An unpaired surrogate, which UTF-8 can't encode. */
const half = /\p{Surrogate}/u;

const isUtf8 = z.refine<string>((value) => !half.test(value), "must be UTF-8 text");

/** Text that the other side can store unchanged. */
const storable = [
  z.refine<string>((value) => !value.includes("\u0000"), "must not contain a NUL character"),
  isUtf8,
] as const;

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.int(message).check(z.gte(min, message), z.lte(max, message));
};

/** An integer. Forms and some services encode it as a decimal string. */
export const integer = (min: number, max: number) =>
  z
    .codec(z.union([z.int(), digits], "must be a whole number"), whole(min, max), {
      decode: Number,
      encode: (n) => n,
    })
    .register(z.globalRegistry, { minimum: min, maximum: max });

/** An integer that we encode as a decimal string. */
export const integerAsString = (min: number, max: number) =>
  z.codec(z.union([digits, z.int()], "must be a whole number"), whole(min, max), {
    decode: Number,
    encode: String,
  });

/** A row's identifier. */
export const id = () => integer(1, 2_147_483_647);

/** Money in cents. */
export const money = (min: number, max: number = MAX_AMOUNT_CENTS) =>
  z
    .codec(
      z.union([z.int(), digits], "must be a whole number of cents"),
      z.custom<Cents>(
        (v) => Number.isInteger(v) && (v as number) >= min && (v as number) <= max,
        `must be from ${min} to ${max} cents`,
      ),
      {
        decode: (v) => Number(v) as Cents,
        encode: (n) => n as number,
      },
    )
    // For the OpenAPI document: the schema of a decimal string has no minimum.
    .register(z.globalRegistry, { minimum: min, maximum: max });

const asSecret = (text: z.ZodMiniString) =>
  z.codec(text, z.instanceof(Secret, { error: "must be a string or a Secret" }), {
    decode: (v) => new Secret(v),
    encode: (s) => s.reveal(),
  });

/** A confidential string. */
export const secret = (maxLength: number) => asSecret(string().check(notEmpty, atMost(maxLength)));

/** A secret that a person types or a program reads from a file. A line break at its end is a mistake. */
export const typedSecret = (maxLength: number) =>
  asSecret(
    string().check(
      notEmpty,
      atMost(maxLength),
      z.refine<string>((value) => !endsWithBreak.test(value), "must not end with a line break"),
      isUtf8,
    ),
  );

/** Required text. */
export const text = (maxLength: number) => string().check(z.trim(), notEmpty, atMost(maxLength), ...storable);

/** Optional text, which may be empty. */
export const optionalText = (maxLength: number) => z.optional(string().check(atMost(maxLength), ...storable));

/** An optional name that the caller chooses, which may be empty. Surrounding white space is removed. */
export const optionalKey = (maxLength: number) => z.optional(string().check(z.trim(), atMost(maxLength), ...storable));

const isHttpUrl = (value: string) => {
  try {
    return ["http:", "https:"].includes(new URL(value).protocol);
  } catch {
    return false;
  }
};

/** An http or https address. */
export const url = () =>
  string().check(atMost(2048), ...storable, z.refine(isHttpUrl, "must be an http or https address"));

/** An optional http or https address, which may be empty. */
export const optionalUrl = () => z.optional(z.union([z.literal(""), url()], "must be an http or https address"));

/** An existing date, yyyy-mm-dd. There is no year 0. */
export const date = () =>
  z.iso
    .date("must be a date, yyyy-mm-dd")
    .check(z.refine((value) => !value.startsWith("0000"), "must be a date, yyyy-mm-dd"));

/** A time, hh:ii:ss. */
export const time = () => string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, "must be a time, hh:ii:ss"));

/** An optional date or time, which may be empty. */
export const optionally = <S extends z.ZodMiniType<string, string>>(schema: S) =>
  z.optional(z.union([z.literal(""), schema], "is not written as the interface says"));

/** Text in a response. Services may send null instead of an empty text. */
export const answeredText = () =>
  z.codec(z.nullish(z.string()), z.string(), { decode: (v) => v ?? "", encode: (v) => v });

/** Text or null in a response. */
export const answeredTextOrNull = () =>
  z.codec(z.nullish(z.string()), z.nullable(z.string()), { decode: (v) => v ?? null, encode: (v) => v });
