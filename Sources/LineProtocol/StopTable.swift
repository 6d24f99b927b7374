/// What makes a device safe, by family and carrier.
///
/// | family | serial port, USB, TCP, Unix socket, BLE as a stream of bytes | BLE, each packet a message |
/// | --- | --- | --- |
/// | pump | `\nOFF\n` | `\nOFF\n`: the UART behind such a module takes bytes |
/// | storm | none: it only measures | none |
/// | led | none: its light is off when it is written 0 | none |
/// | peer | none: its `OFF` is a message to a person | none: `\nOFF` would be shown as text |
/// | rescue | none: it only passes messages on | none |
enum StopTable {
    /// A bare line end first: a line that somebody else has begun ends there and is refused on its own, where it would
    /// have swallowed the command. It is a wrong command at the worst, or one that the OFF behind it undoes.
    static let pump = Array("\nOFF\n".utf8)
}
