// Colours that tell numbers. The ramp goes from calm to hot with rising lightness, so it reads in grey, too.

const stops = [
    [0x2b, 0x3a, 0x67],
    [0x2f, 0x7f, 0x93],
    [0x7f, 0xb8, 0x7a],
    [0xf0, 0xc8, 0x5a],
    [0xff, 0xf1, 0xd0],
] as const;

export function toLinear(byte: number): number {
    const c = byte / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function rampAt(t: number, channel: number): number {
    const x = t * (stops.length - 1);
    const i = Math.min(stops.length - 2, Math.floor(x));
    const a = stops[i]?.[channel] ?? 0;
    const b = stops[i + 1]?.[channel] ?? 0;
    return a + (b - a) * (x - i);
}

// 256 colours, r g b, linear, 65535 is 1.
export const ramp = new Uint16Array(256 * 3);
for (let i = 0; i < ramp.length; ++i) ramp[i] = 65535 * toLinear(rampAt(Math.floor(i / 3) / 255, i % 3));

export const rampCss = `linear-gradient(to right, ${stops.map((s) => `rgb(${s.join(" ")})`).join(", ")})`;

// From bytes as painted (r g b a) to what light is computed with.
export function linearColors(bytes: Uint8Array, count: number): Uint16Array {
    const table = Uint16Array.from({ length: 256 }, (_, i) => Math.round(65535 * toLinear(i)));
    const colors = new Uint16Array(count * 3);
    for (let i = 0; i < count; ++i)
        for (let k = 0; k < 3; ++k) colors[i * 3 + k] = table[bytes[i * 4 + k] ?? 0] ?? 0;
    return colors;
}
