import * as z from "zod/mini";
import { type Cents, MAX_AMOUNT_CENTS } from "./money.js";
import { Secret } from "./secret.js";

/** A field of the wire: its spelling there, and the codec between its wire form and ours. */
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

/** Gives a wire field its spelling and schema. */
export function field<const W extends string, S extends z.ZodMiniType>(wire: W, schema: S): Field<W, S> {
  return { wire, schema };
}

/**
 * A codec between an object as it stands on the wire and the same object under our names.
 * `z.decode` reads the wire, `z.encode` writes it. Faults carry the wire's path.
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

/** A string, or a fault in words that a caller can use. */
const string = () =>
  z.string({
    error: ({ code, input }) =>
      code === "invalid_type" ? (input === undefined ? "is required" : "must be a string") : undefined,
  });

const atMost = (length: number) => z.maxLength(length, `must be at most ${length} characters`);
const notEmpty = z.minLength(1, "must not be empty");

const digits = z.string().check(z.regex(/^\d{1,15}$/, "must be a whole number"));
const endsWithBreak = /[\r\n]$/;
/** Half of a character that takes two places: no text in UTF-8 can hold it. */
const half = /\p{Surrogate}/u;

const isUtf8 = z.refine<string>((value) => !half.test(value), "must be UTF-8 text");

/** Text that another side can write down as it is. */
const storable = [
  z.refine<string>((value) => !value.includes("\u0000"), "must not hold a NUL character"),
  isUtf8,
] as const;

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.int(message).check(z.gte(min, message), z.lte(max, message));
};

/** An integer, which a form (and some services) write as a decimal string. */
export const integer = (min: number, max: number) =>
  z
    .codec(z.union([z.int(), digits], "must be a whole number"), whole(min, max), {
      decode: Number,
      encode: (n) => n,
    })
    .register(z.globalRegistry, { minimum: min, maximum: max });

/** An integer that our side writes as a decimal string. */
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
    // What the wire's schema shows besides the digits; a decimal string has no minimum there.
    .register(z.globalRegistry, { minimum: min, maximum: max });

const asSecret = (text: z.ZodMiniString) =>
  z.codec(text, z.instanceof(Secret, { error: "must be a string or a Secret" }), {
    decode: (v) => new Secret(v),
    encode: (s) => s.reveal(),
  });

/** A string that must not be seen. */
export const secret = (maxLength: number) => asSecret(string().check(notEmpty, atMost(maxLength)));

/** A secret that somebody types, or reads from a file: a line break at its end is a mistake, not a part of it. */
export const typedSecret = (maxLength: number) =>
  asSecret(
    string().check(
      notEmpty,
      atMost(maxLength),
      z.refine<string>((value) => !endsWithBreak.test(value), "must not end with a line break"),
      isUtf8,
    ),
  );

/** Text that must be there. */
export const text = (maxLength: number) => string().check(z.trim(), notEmpty, atMost(maxLength), ...storable);

/** Text that may be left out or empty. */
export const optionalText = (maxLength: number) => z.optional(string().check(atMost(maxLength), ...storable));

/** A name that a caller chooses, and may leave out or empty. What stands around it is no part of it. */
export const optionalKey = (maxLength: number) =>
  z.optional(string().check(z.trim(), atMost(maxLength), ...storable));

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

/** An http or https address that may be left out or empty. */
export const optionalUrl = () =>
  z.optional(z.union([z.literal(""), url()], "must be an http or https address"));

/** yyyy-mm-dd, a day that exists; there was no year 0. */
export const date = () =>
  z.iso
    .date("must be a date, yyyy-mm-dd")
    .check(z.refine((value) => !value.startsWith("0000"), "must be a date, yyyy-mm-dd"));

/** hh:ii:ss */
export const time = () =>
  string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, "must be a time, hh:ii:ss"));

/** A date or time that may be left out or empty. */
export const optionally = <S extends z.ZodMiniType<string, string>>(schema: S) =>
  z.optional(z.union([z.literal(""), schema], "is not written as the interface says"));

/** Text in an answer; services also answer null where there is none. */
export const answeredText = () =>
  z.codec(z.nullish(z.string()), z.string(), { decode: (v) => v ?? "", encode: (v) => v });

/** Text or null in an answer. */
export const answeredTextOrNull = () =>
  z.codec(z.nullish(z.string()), z.nullable(z.string()), { decode: (v) => v ?? null, encode: (v) => v });
