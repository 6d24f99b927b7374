// A simulated scale for other programs: scale-sim pty LINK | tcp PORT | ble NAME
//
// The load is 123.4 g at first. Each line of standard input adds grams to the load (`250`) or removes them (`-250`).
import BlueZ
import DescriptorIO
import FirmwareSim
import Glibc
import PeripheralSim
import ScaleSim

/// Prints a line without buffering.
func announce(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(STDOUT_FILENO, line, line.count)
}

/// Reads changes of the load in grams from standard input, until it ends, and passes them to `put` in tenths of a gram.
func readLoads(_ put: @escaping @Sendable (_ tenths: Int) async -> Void) {
    Task.detached {
        while let line = readLine() {
            if let grams = Double(line) { await put(Int((grams * 10).rounded())) }
        }
    }
}

let scale = ScaleFirmware(load: 1234)
let argument = CommandLine.arguments.last ?? ""
switch CommandLine.arguments.dropFirst().first {
case "pty", "tcp":
    let host = DeviceHost(scale, pace: .realTime(ContinuousClock()))
    readLoads { tenths in await host.change { scale, now in scale.put(tenths, at: now) } }
    let isTerminal = CommandLine.arguments[1] == "pty"
    let place =
        isTerminal
        ? ServingPlace.terminal(link: argument) : .socket(.tcp(host: "127.0.0.1", port: UInt16(argument) ?? 0))
    try await host.serve(at: place) { event in
        switch event {
        case .onTerminal(let path): announce("serving at \(path)")
        case .isBack(let path): announce("back at \(path)")
        case .staysAway(let error): announce("gone: \(error)")
        case .onSocket(let address): announce("serving at \(address)")
        case .refusedClient: announce("a second client was disconnected")
        }
    }
case "ble":
    let host = DeviceHost(HM10Module(scale, name: argument), pace: .realTime(ContinuousClock()))
    readLoads { tenths in await host.change { module, now in module.device.put(tenths, at: now) } }
    // The second adapter, because programs on the same computer connect from the first: no adapter connects to itself.
    try await host.serve(onAdapter: "hci1") { event in
        if case .offered(let adapter) = event { announce("serving as \(argument) on \(adapter.name)") }
    }
default:
    print("usage: scale-sim pty LINK | tcp PORT | ble NAME")
    exit(EX_USAGE)
}
