import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUnclear, normalize, normalizePin, parseEntry } from "../src/entry-parser.js";

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength });
const cardNumber = digits(12, 24);
const pin = digits(3, 8);
const noise = fc.string({
  unit: fc.constantFrom(" ", "-", "\u00a0", "\u2009", "\u2013", "\u2014", "\u2212", "\u200b", "\u200e", "\ufeff", "\t"),
  maxLength: 3,
});
const inFours = (number: string, gap = " ") => number.replace(/\d{4}(?=\d)/g, `$&${gap}`);

const number = "6064350000000001234";
const grouped = inFours(number);
const code = "012345";
const other = "6064350000000009876";
const pair = { cardNumber: number, pin: code };
const numberAlone = { cardNumber: number, pin: "" };
const pinAlone = { cardNumber: "", pin: code };

/** Texts with number and PIN, as shops, printers and scanners write them. */
const pairs = [
  `Card No. ${grouped} PIN ${code} Exp 05/2027`,
  `Gift card ${number} (PIN ${code})`,
  `Your €50.00 gift card is here!\n\nCard number: ${grouped}\nPIN: ${code}\nValid until: 31 May 2027\n\nOrder 100045, 26/11/2026 10:15`,
  `Gift card code ${grouped}, PIN-code: ${code}`,
  `Card number\tPIN\tBalance\n${number}\t${code}\t€75.00`,
  `Card number / PIN\n${grouped} / ${code}`,
  `Gift Card #${number} Security code ${code} Exp 0527`,
  `Number: ${number}\nPIN is ${code}\nZip code: 12345`,
  `Cadeaukaart €75,00\nKaartnummer ${grouped}\nPIN ${code}`,
  `Kaartnummer: ${number}\nPincode: ${code}\nGeldig t/m 31-05-2027`,
  `Uw cadeaukaart t.w.v. 50 euro: ${number}, krascode ${code}`,
  `Beveiligingscode: ${code}\nNummer van de cadeaukaart: ${number}`,
  `Geheimzahl: ${code} Kartennummer: ${grouped} Gültig bis 31.05.2027`,
  `Gutschein über 75,00 €\nKarten-Nr.: ${grouped}\nPIN-Code: ${code}`,
  `Kartennummer ${number}\nSicherheitscode ${code}\nBestellung 4711 vom 26.11.2026`,
  `> Card number: ${grouped}\n>> PIN: ${code}`,
  `Numéro ${grouped}\nCode confidentiel ${code}`,
  `Cartão ${grouped}\nSenha: ${code}`,
  `Card ${grouped} Scratch code ${code}`,
  `Carte cadeau de 75,00 €\nNuméro : ${grouped}\nCode secret : ${code}\nValable jusqu’au 31/05/2027`,
  `Code PIN : ${code}\nN° de carte : ${number}`,
  `Numéro ${number}, code de sécurité ${code}`,
  `Número de tarjeta: ${grouped}\nClave: ${code}\nVálida hasta el 31/05/2027`,
  `Tarjeta regalo de 50 €. El número es ${number} y el PIN es ${code}.`,
  `Código de seguridad ${code}, tarjeta ${number}`,
  `Carta regalo da € 50,00\nNumero carta: ${number}\nCodice segreto: ${code}\nScade il 31/05/2027`,
  `Il PIN è ${code}. Il numero della carta è ${grouped}.`,
  `Karta podarunkowa 200 zł\nNumer karty: ${grouped}\nKod PIN: ${code}\nWażna do 31.05.2027`,
  `Kod zabezpieczający: ${code}, numer ${number}`,
  `Cartão-presente\nNúmero: ${number}\nCódigo de segurança: ${code}\nVálido até 31/05/2027`,
  `O PIN é ${code}\nO número do cartão é ${number}`,
  `PIN ${code}\nCard ${grouped}`,
  `[${number}] [${code}]`,
  `${number} (${code})`,
  `${number} PIN(${code})`,
  `${number}PIN${code}`,
  `${number}-${code}`,
  `${grouped}  ${code}`,
  `${grouped}\u00a0${code}`,
  `${inFours(number, "\u00a0")} PIN:\u00a0${code}`,
  `${inFours(number, ".")} PIN ${code}`,
  `${inFours(number, "\u2011")} PIN ${code}`,
  `Card number: ${number} | PIN: 012-345`,
  `*${number}* *${code}*`,
  `*${number}*\t*${code}*`,
  `]C1${number}\t]C1${code}`,
  `]C1${number}\u001d${code}`,
  `${number} ${code}\r\n`,
  `${number}\t${code}\t`,
  `${number}\r\n${code}\r\n`,
  `${number};${code};75.00;2027-05-31`,
  `https://cards.example/use?nr=${number}&pin=${code}`,
  `https://cards.example/use?pin=${code}&card=${number}&utm_source=mail24`,
  `https://shop24.example:8443/c/${number}#${code}`,
  `giftcard:${number}:${code}`,
  `Card ${number}\nPIN ${code}\n\nOpen it: https://cards.example/${number}`,
];

/** Texts with a number, and no PIN that can be told from other digits. */
const numbersAlone = [
  `Card number: ${grouped}`,
  `Carte cadeau :\u00a0${number}`,
  `No. # ${number}`,
  `*${number}*`,
  `]C1${number}`,
  inFours(number, "."),
  `${number} €75,00`,
  `${number} 75.00 EUR`,
  `${number} 100 €`,
  `${number} 05/2027`,
  `${number} 31-12-2027`,
  `${number} Exp 0527`,
  `${number} gültig bis 31. Mai 2027`,
  `Order 100045 Card ${number}`,
  `Código postal: 28001, tarjeta ${number}`,
  `https://cards.example/${number}`,
];

/** Texts that may mean several things, or nothing. */
const unclear = [
  `Card 1: ${number} PIN: ${code}\nCard 2: ${other} PIN: 987654`,
  `${number} ${code}\n${other} 987654`,
  `Card ${number}\nCard ${other}\nPIN ${code}`,
  `Card ${number} PIN ${code} PIN 987654`,
  `${number} ${code} 987654`,
  `${number} 2027 PIN ${code}`,
  // A number that continues in the next line.
  "6064 3500 0000 0001\n234",
  `6064 3500 0000 0001\n234 PIN ${code}`,
  `Card 6064 35\n00 0000 0001 234 PIN ${code}`,
  `606435 000000 0001234 PIN ${code}`,
  `${code}\n${number}`,
  // The letters may be part of the number.
  "GC123456789012",
  `GC${number} PIN ${code}`,
  "DE89 3704 0044 0532 0130 00",
  // Digits that may be typed into either field.
  number,
  grouped,
  "606435 000000 0001234",
  "6064 3500 0000 0001234",
  `${number}${code}`,
  code,
  "",
  "a b c",
  "€75.00",
  "https://shop.example/",
  "Valid until 31 May 2027",
];

describe("an entry", () => {
  it("loses spaces, dashes and invisible characters, and nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.stringMatching(/^[0-9A-Za-z]$/), noise)), noise, (parts, before) => {
        const typed = before + parts.map((part) => part.join("")).join("");
        expect(normalize(typed)).toBe(parts.map(([character]) => character).join(""));
      }),
    );
  });

  it("loses what scanners add", () => {
    expect(normalize("*012345*")).toBe("012345");
    expect(normalize("]C1012345")).toBe("012345");
  });

  it("has a PIN of any visible characters, without spaces around or between letters and digits", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[!-~]{1,64}$/),
        noise.filter((text) => !/[\p{Pd}\u2212]/u.test(text)),
        (code, around) => {
          expect(normalizePin(around + code + around)).toBe(code);
          expect(isUnclear({ cardNumber: "6064350000000001234", pin: code })).toBe(false);
        },
      ),
    );
    expect(normalizePin("AB12 CD34")).toBe("AB12CD34");
    expect(isUnclear({ cardNumber: "1", pin: normalizePin("Valid until 31.05.2027") })).toBe(true);
  });

  it("may use the digits of other scripts", () => {
    fc.assert(
      fc.property(digits(0, 30), fc.constantFrom(0xff10, 0x660, 0x6f0), (text, zero) => {
        const written = [...text].map((digit) => String.fromCodePoint(zero + Number(digit))).join("");
        expect(normalize(written)).toBe(text);
      }),
    );
  });

  it.each(pairs)("is split: %j", (text) => void expect(parseEntry(text)).toEqual(pair));

  it.each(numbersAlone)("has a number alone: %j", (text) => void expect(parseEntry(text)).toEqual(numberAlone));

  it.each([`PIN: ${code}`, `PIN (${code})`, `Geheimzahl ${code}`, `El PIN es ${code}`, `Code : ${code}`])(
    "has a PIN alone: %j",
    (text) => void expect(parseEntry(text)).toEqual(pinAlone),
  );

  it.each(unclear)("is left as it is: %j", (text) => void expect(parseEntry(text)).toBeUndefined());

  it("is split however number and PIN are written together", () => {
    const between = fc.constantFrom(
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
      fc.property(before, cardNumber, between, pin, noise, (label, written, gap, secret, after) => {
        expect(parseEntry(label + written + gap + secret + after)).toEqual({ cardNumber: written, pin: secret });
      }),
    );
  });

  it("is split if the number is in groups of four and a longer group follows", () => {
    const label = fc.constantFrom("", "Kaartnummer ", "Card number: ");
    const gap = fc.constantFrom(" ", "-", "\u00a0");
    fc.assert(
      fc.property(label, digits(16, 24), gap, digits(5, 8), (before, written, divider, secret) => {
        const groups = inFours(written, divider);
        expect(parseEntry(`${before}${groups} ${secret}`)).toEqual({ cardNumber: written, pin: secret });
        expect(parseEntry(`${before}${groups} pincode ${secret}`)).toEqual({ cardNumber: written, pin: secret });
        expect(parseEntry(groups)).toBeUndefined();
      }),
    );
  });

  it("is split right or left alone, in any order of labelled parts", () => {
    const written = fc.constantFrom(
      (text: string) => text,
      inFours,
      (text: string) => inFours(text, "-"),
    );
    const label = (...words: string[]) =>
      fc.constantFrom(...words.flatMap((word) => [`${word} `, `${word}: `, `${word}\n`]));
    const part = fc.constantFrom(
      "€75.00",
      "75,00 €",
      "Exp 05/2027",
      "Valid until 31-12-2027",
      "Order 12345",
      "Zip code 1234 AB",
    );
    const parts = fc.record({
      number: fc.tuple(label("Card number", "Kaartnummer", "Karten-Nr.", "Numéro", "Tarjeta"), written),
      pin: label("PIN", "Pincode", "Geheimzahl", "Code secret", "Clave", "Codice segreto", "Kod PIN"),
      others: fc.array(part, { maxLength: 4 }),
      isPinFirst: fc.boolean(),
      places: fc.array(fc.nat(4), { minLength: 4, maxLength: 4 }),
      separator: fc.constantFrom("\n", "\r\n", ", ", " ", " | ", "\t", "; "),
    });
    fc.assert(
      fc.property(parts, digits(16, 19), pin, (made, cardDigits, secret) => {
        const [before, write] = made.number;
        const texts = [before + write(cardDigits), made.pin + secret];
        if (made.isPinFirst) texts.reverse();
        made.others.forEach((text, index) => void texts.splice(made.places[index] ?? 0, 0, text));
        const entry = parseEntry(texts.join(made.separator));
        if (entry) expect(entry).toEqual({ cardNumber: cardDigits, pin: secret });
      }),
      { numRuns: 3000 },
    );
  });

  it("never throws, whatever is pasted", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => void parseEntry(text)));
  });
});
