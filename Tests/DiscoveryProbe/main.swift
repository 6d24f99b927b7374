import Glibc
import SerialPort

/// Prints a line at once.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Says what discovery finds, to tests that run it on mocked devices.
///
///     list     a line for each port: path, identity
///     kept     whether a rule keeps ModemManager off, for each port
///     watch    makes a monitor, says "ready", waits for a line, and then tells each event: + or -, path, identity
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
