import Glibc
import SerialPort

/// Prints a line without buffering.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints the results of discovery, for tests that run this program on mocked devices. An identity is printed as the
/// fact that tells the port from others, such as `serialNumber("A50285BI")` or `physicalPath("1-2")`.
///
///     list     a line for each port: path, identity
///     kept     a line for each port: path, whether a udev rule keeps ModemManager off it
///     watch    starts a monitor, prints "ready", waits for a line, and then prints each event: + or -, path, identity
switch CommandLine.arguments.dropFirst().first {
case "list":
    for port in try SerialPortDiscovery.ports() { print(port.path, port.identity.distinction) }
case "kept":
    for port in try SerialPortDiscovery.ports() { print(port.path, port.isKeptFromModemManager) }
case "watch":
    let monitor = try SerialPortMonitor()
    say("ready")
    _ = readLine()
    for try await event in monitor {
        switch event {
        case .attached(let port): say("+ \(port.path) \(port.identity.distinction)")
        case .detached(let port): say("- \(port.path) \(port.identity.distinction)")
        }
    }
default:
    say("list, kept or watch")
}
