import DescriptorIO
import FakeBlueZ
import FirmwareSim
import Glibc
import TestSupport

/// Runs a bus with a fake `org.bluez` until standard input ends. The first line of output is the address of the bus:
///
///     $ fake-bluez
///     unix:path=/tmp/pumpctl-test-k2rVxQ/bus
///     $ export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/pumpctl-test-k2rVxQ/bus
///     $ pumpctl --port ble:HMSoft on
///     $ bluetoothctl scan on
///
/// The devices in reach are HMSoft, a simulated pump behind an HM-10, and Sprinter, which replies to STATUS and TEMP
/// like a pump but immediately. After a line `BURST:<n>` Sprinter sends `n` pieces of 20 bytes of a pump's status
/// lines, as fast as possible.
///
/// `fake-bluez 2` has two adapters: a device offered on `hci1` is found through `hci0`.
///
/// - Returns: The number of the signal that ended the program; 0 after the end of standard input.
func serve(adapters: Int) async throws -> CInt {
    let bus = try await PrivateBus()
    let fake = try await FakeBlueZ.start(on: bus.address)
    for number in 0..<adapters {
        await fake.addAdapter("hci\(number)", address: "00:00:5E:00:53:0\(number + 1)")
    }
    let pump = try await HM10(PumpFirmware(), pace: .realTime(ContinuousClock()))
    let time = Task { try await pump.host.run() }
    await fake.add(pump.radio)
    await fake.add(sprinter(on: fake))
    print(bus.address)
    fflush(nil)
    let signal = await ending()
    time.cancel()
    await fake.stop()
    bus.kill()
    return signal
}

/// The pipe to which the signal handler writes the number of a signal that ends the program. A signalfd would not do:
/// it receives blocked signals only, and the main thread waits with no signal blocked.
nonisolated(unsafe) var signalPipe: [CInt] = [-1, -1]

/// Waits until standard input ends or a signal comes that ends programs; returns the number of the signal, else 0.
func ending() async -> CInt {
    let (endings, end) = AsyncStream.makeStream(of: CInt.self)
    pipe(&signalPipe)
    for number in SignalSource.endingSignals where !SignalSource.isIgnored(number) {
        signal(number) { number in
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(signalPipe[1], &byte, 1)
        }
    }
    // On separate threads, because these blocking reads must not hold up the bus.
    Task {
        try await onThread {
            var byte: UInt8 = 0
            while read(signalPipe[0], &byte, 1) != 1 {}
            end.yield(CInt(byte))
        }
    }
    Task {
        try await onThread {
            while readLine() != nil {}
            end.yield(0)
        }
    }
    for await signal in endings { return signal }
    return 0
}

let status: CInt
switch (CommandLine.arguments.count, CommandLine.arguments.last.flatMap { Int($0) }) {
case (1, _): status = try await serve(adapters: 1)
case (2, .some(let adapters)) where (0...9).contains(adapters): status = try await serve(adapters: adapters)
default:
    let usage = "usage: fake-bluez [ADAPTERS], 0 to 9\n"
    write(STDERR_FILENO, usage, usage.utf8.count)
    exit(EX_USAGE)
}
// Not exit(3), which waits for standard input: another thread may still be reading it.
_exit(status == 0 ? 0 : 128 + status)

/// A module for the benchmarks. Its pump is always off and replies without any delay. Adapter `hci0` is connected to it
/// from the start.
@Radio func sprinter(on fake: FakeBlueZ) -> RadioDevice {
    let radio = RadioDevice("00:15:83:00:00:20", Advertisement(name: "Sprinter", services: ["FFE0"]))
    let line = RadioCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])
    radio.services = [RadioService("FFE0", [line])]
    radio.manners.isConnectedAlready = true
    radio.manners.advertisesWhileConnected = true
    let status = Array("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n".utf8)
    line.onWrite = { [unowned line, unowned fake] bytes, _ in
        let command = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? ""
        if command == "STATUS" {
            for start in stride(from: 0, to: status.count, by: 20) { line.notify(Array(status[start...].prefix(20))) }
        } else if command == "TEMP" {
            line.notify(Array("TEMP:34.5\r\n".utf8))
        } else if let count = command.split(separator: ":").last.flatMap({ Int($0) }) {
            // The repeated text has a whole number of lines and of 20-byte pieces.
            let lines = Array(repeatElement(status, count: 20).joined())
            Task {
                try await fake.burst(count, from: line) { number in
                    let start = number * 20 % lines.count
                    return Array(lines[start..<min(start + 20, lines.count)])
                }
            }
        }
    }
    return radio
}
