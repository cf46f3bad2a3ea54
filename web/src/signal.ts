// A value that tells when it has changed.

export class Signal<T> {
    private readonly listeners: ((value: T, old: T) => void)[] = [];

    constructor(private current: T) {}

    get value(): T {
        return this.current;
    }

    set value(value: T) {
        if (value === this.current) return;
        const old = this.current;
        this.current = value;
        for (const listener of this.listeners) listener(value, old);
    }

    on(listener: (value: T, old: T) => void): void {
        this.listeners.push(listener);
    }

    // Now and whenever it changes.
    use(listener: (value: T, old: T) => void): void {
        this.on(listener);
        listener(this.current, this.current);
    }
}
