import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalize, parseEntry } from "../src/entry-parser.js";

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength });
const cardNumber = digits(12, 24);
const pin = digits(3, 8);
const noise = fc.string({
  unit: fc.constantFrom(" ", "-", "\u00a0", "\u2009", "\u2013", "\u2014", "\u2212", "\u200b", "\u200e", "\ufeff", "\t"),
  maxLength: 3,
});

describe("an entry", () => {
  it("loses spaces, dashes and invisible characters, and nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.stringMatching(/^[0-9A-Za-z]$/), noise)), noise, (parts, before) => {
        const typed = before + parts.map((part) => part.join("")).join("");
        expect(normalize(typed)).toBe(parts.map(([character]) => character).join(""));
      }),
    );
  });

  it("may use the digits of other scripts", () => {
    fc.assert(
      fc.property(digits(0, 30), fc.constantFrom(0xff10, 0x660, 0x6f0), (text, zero) => {
        const other = [...text].map((digit) => String.fromCodePoint(zero + Number(digit))).join("");
        expect(normalize(other)).toBe(text);
      }),
    );
  });

  it("does not change if it is normalized twice", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (text) => void expect(normalize(normalize(text))).toBe(normalize(text)),
      ),
    );
  });

  it("is split however number and PIN are written together", () => {
    const between = fc.constantFrom(
      " ",
      "\n",
      "\t",
      ", ",
      " / ",
      ";",
      " PIN ",
      " pin: ",
      ", pincode ",
      " Code=",
      " PIN-code: ",
    );
    const before = fc.constantFrom("", "Card number: ", "Kaartnummer: ", "No: ", " ", "Kaartnummer ", "Gift card nr. ");
    fc.assert(
      fc.property(before, cardNumber, between, pin, noise, (label, number, gap, code, after) => {
        expect(parseEntry(label + number + gap + code + after)).toEqual({ cardNumber: number, pin: code });
      }),
    );
  });

  it("is split if the number is in groups of four and a longer group follows", () => {
    const groupsOf = (number: string, gap: string) => number.replace(/\d{4}(?=\d)/g, `$&${gap}`);
    const label = fc.constantFrom("", "Kaartnummer ", "Card number: ");
    const gap = fc.constantFrom(" ", "-", "\u00a0");
    fc.assert(
      fc.property(label, digits(16, 24), gap, digits(5, 8), (before, number, divider, code) => {
        expect(parseEntry(`${before}${groupsOf(number, divider)} ${code}`)).toEqual({
          cardNumber: number,
          pin: code,
        });
        expect(parseEntry(`${before}${groupsOf(number, divider)} pincode ${code}`)).toEqual({
          cardNumber: number,
          pin: code,
        });
        expect(parseEntry(groupsOf(number, divider))).toBeUndefined();
      }),
    );
  });

  it("is split from the address in a card's QR code", () => {
    const write = fc.constantFrom(
      (number: string, code: string) => `https://cards.example/use?nr=${number}&pin=${code}`,
      (number: string, code: string) => `https://cards.example/use?pin=${code}&card=${number}`,
      (number: string, code: string) => `https://shop24.example:8443/c/${number}#${code}`,
      (number: string, code: string) => `giftcard:${number}:${code}`,
    );
    fc.assert(
      fc.property(write, cardNumber, pin, (address, number, code) => {
        expect(parseEntry(address(number, code))).toEqual({ cardNumber: number, pin: code });
      }),
    );
    expect(parseEntry("https://cards.example/6064350000000001234")).toEqual({
      cardNumber: "6064350000000001234",
      pin: "",
    });
  });

  it("loses its label if it is a number or PIN alone", () => {
    const label = fc.constantFrom("Card number: ", "Kaartnummer:", "No. # ", "Carte cadeau :\u00a0");
    fc.assert(
      fc.property(label, cardNumber, pin, (before, number, code) => {
        expect(parseEntry(before + number)).toEqual({ cardNumber: number, pin: "" });
        expect(parseEntry(`${before}${number.replace(/\d{4}(?=\d)/g, "$& ")}`)?.cardNumber).toBe(number);
        expect(parseEntry(`PIN: ${code}`)).toEqual({ cardNumber: "", pin: code });
      }),
    );
    expect(parseEntry("GC 123456789012"), "the letters may be part of the number").toBeUndefined();
  });

  it("is left as it is if it is not a pair", () => {
    fc.assert(fc.property(cardNumber, (number) => void expect(parseEntry(number)).toBeUndefined()));
    for (const text of [
      "6064 3500 0000 0001 234",
      "606435 000000 0001234",
      "6064 3500 0000 0001234",
      "",
      "https://shop.example/",
      "012345",
      "a b c",
    ])
      expect(parseEntry(text)).toBeUndefined();
  });

  it("never throws, whatever is pasted", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => void parseEntry(text)));
  });
});
