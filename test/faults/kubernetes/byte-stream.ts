/** The body of an answer that arrives bit by bit: written at one end, read once at the other. */

export interface ByteStream {
  readonly body: AsyncIterable<Uint8Array>;
  write(text: string): void;
  end(): void;
  /** What was written and not read yet is lost. */
  fail(reason: unknown): void;
}

/** `onClose` is called once, whichever side ends it. */
export function byteStream(onClose: () => void): ByteStream {
  let pending: string[] = [];
  let over: { readonly failure?: unknown } | undefined;
  let wake: (() => void) | undefined;
  let closed = false;

  function close(): void {
    if (closed) return;
    closed = true;
    onClose();
  }

  function stir(): void {
    wake?.();
    wake = undefined;
  }

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (over !== undefined && 'failure' in over) throw over.failure;
        if (pending.length > 0) {
          const text = pending.join('');
          pending = [];
          yield Buffer.from(text);
        } else if (over !== undefined) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      close();
    }
  }

  return {
    body: read(),
    write(text) {
      if (over !== undefined) return;
      pending.push(text);
      stir();
    },
    end() {
      over ??= {};
      close();
      stir();
    },
    fail(failure) {
      if (over !== undefined && 'failure' in over) return;
      over = { failure };
      close();
      stir();
    },
  };
}
