/// The bytes that make a device safe, by family and carrier.
///
/// | family | serial port, USB, TCP, Unix socket, BLE as a stream of bytes | BLE, each packet a message |
/// | --- | --- | --- |
/// | pump | `\nOFF\n` | `\nOFF\n`: the UART behind such a module takes bytes |
/// | storm | none: it only measures | none |
/// | led | none: writing 0 switches its light off | none |
/// | peer | none: its `OFF` only switches a toggle | none: `\nOFF\n` would be shown as text |
/// | rescue | none: it only passes messages on | none |
enum StopTable {
    /// `OFF` after a bare line end, which ends a line that another program has half sent. Otherwise OFF would become a
    /// part of that line. The half line is refused or, at worst, carried out as a command that OFF undoes.
    static let pump = Array("\nOFF\n".utf8)
}
