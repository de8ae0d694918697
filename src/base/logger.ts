/** The logger of a server. The host decides where the messages go. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** A logger that ignores all messages. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
