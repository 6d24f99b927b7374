/// The bytes that make a device safe, by family and carrier.
///
/// | family | serial port, USB, TCP, Unix socket, BLE as a stream of bytes | BLE, each packet a message |
/// | --- | --- | --- |
/// | pump | `\nOFF\n` | `\nOFF\n`: the UART behind such a module takes bytes |
/// | storm | none: it only measures | none |
/// | led | none: writing 0 switches its light off | none |
/// | peer | none: its `OFF` is a message to a person | none: `\nOFF` would be shown as text |
/// | rescue | none: it only passes messages on | none |
enum StopTable {
    /// Begins with a bare line end. Without it, a line that another program has half sent would swallow the command.
    /// The half line then ends there, and is refused or, at worst, carried out as a command that OFF undoes.
    static let pump = Array("\nOFF\n".utf8)
}
