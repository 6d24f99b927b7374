import BlueZ
import DBus
import FakeBlueZ
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl with a pump on BLE", .timeLimit(.minutes(5)))
struct BLECommandLineTests {
    @Test func `on, speed, status and off work over BLE`() async throws {
        let pump = try await BLEPump()
        let on = try await pump.run("-p", "ble:HMSoft", "on")
        #expect(on.status == 0, "\(on)")
        #expect(on.output == "pump on at 70 %\n")
        #expect(on.errors == "")
        #expect(await pump.duty() == 180)
        let speed = try await pump.run("--port", "ble:*", "speed", "200")
        #expect(speed.output == "speed 200 (78 %)\n", "\(speed)")
        #expect(await pump.duty() == 200)
        let status = try await pump.run("-p", "ble:00:15:83:00:00:10", "--json", "status")
        let object = try status.object()
        #expect(object["state"] as? String == "on" && object["speed_percent"] as? Int == 78)
        let off = try await pump.run("-p", "ble:HMSoft?adapter=hci0", "off")
        #expect(off.output == "pump off\n", "\(off)")
        #expect(await pump.duty() == nil)
        // Each command disconnects from the module for the next one.
        try await pump.module.radio.untilUnlinked()
    }

    @Test func `off keeps reconnecting after failed subscriptions, other commands reconnect once`() async throws {
        let pump = try await BLEPump()
        let refusals = Array(repeating: BlueZError.attribute(0x01), count: 3)
        await Radio.run { pump.module.radio.manners.subscribeErrors = refusals }
        let off = try await pump.run("-p", "ble:00:15:83:00:00:10", "off")
        #expect(off.output == "pump off\n", "\(off)")
        await Radio.run { pump.module.radio.manners.subscribeErrors = refusals }
        expectFailure(
            try await pump.run("-p", "ble:00:15:83:00:00:10", "status"), 74, saying: "ATT error: 0x01",
            hint: "bluetoothctl remove 00:15:83:00:00:10")
        // Four connections of `off`, the last of which works, and two of `status`.
        #expect(await pump.fake.calls.state.count { $0.member == "Connect" } == 6)
    }

    @Test func `A refusal of the pump exits with 1`() async throws {
        let pump = try await BLEPump()
        let ending = try await pump.run("-p", "ble:HMSoft", "speed", "10")
        expectFailure(ending, 1, saying: "PUMP_NOT_RUNNING")
    }

    @Test func `send prints the reply over BLE`() async throws {
        let pump = try await BLEPump()
        let ending = try await pump.run("-p", "ble:HMSoft", "send", "TEMP")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.hasPrefix("TEMP:{Water:"))
    }

    @Test func `A console script runs over BLE`() async throws {
        let pump = try await BLEPump()
        let console = try await pump.start("-p", "ble:HMSoft", "console")
        try await console.write("STATUS\nTEMP\n")
        await console.closeInput()
        let ending = try await console.ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains("STATUS:{State:OFF") && ending.output.contains("TEMP:{Water:"))
    }

    @Test func `monitor continues after the module was away`() async throws {
        let pump = try await BLEPump()
        let monitor = try await pump.start("-p", "ble:*", "monitor", "--interval", "0.5", "--json")
        _ = try await monitor.output.text(upTo: #""link":"up""#)
        await pump.module.radio.dropLinks()
        _ = try await monitor.output.text(upTo: #""event":"lost""#)
        _ = try await monitor.output.text(upTo: #""event":"back""#)
        _ = try await monitor.output.text(upTo: #""link":"up""#)
        monitor.send(signal: 2)
        _ = try await monitor.ending()
    }

    @Test func `off succeeds while another program scans, despite failed attempts`() async throws {
        let pump = try await BLEPump()
        let other = try await BlueZ.open(.address(pump.bus.address))
        let scan = try await other.scan()
        await Radio.run {
            pump.module.radio.manners.connectErrors = [BlueZError.abortedByLocal, BlueZError.abortedByLocal]
        }
        let ending = try await pump.run("-p", "ble:HMSoft", "off")
        #expect(ending.status == 0 && ending.output == "pump off\n", "\(ending)")
        #expect(await pump.fake.adapters.first?.isDiscovering == true)
        scan.cancel()
        await other.close()
    }

    @Test func `A query is repeated after a lost link, a change and a line of send are not`() async throws {
        let pump = try await BLEPump()
        for (words, status, connections) in [
            (["status"], 0, 2), (["temp"], 0, 2), (["on"], 74, 1), (["speed", "100"], 74, 1),
            (["--family", "pump", "send", "STATUS"], 74, 1),
        ] as [([String], Int32, Int)] {
            await Radio.run { pump.module.radio.manners.writesUntilLoss = 0 }
            let before = await pump.fake.calls.state.count { $0.member == "Connect" }
            let ending = try await Pumpctl.start(["-p", "ble:HMSoft"] + words, environment: pump.bus.environment)
                .ending()
            #expect(ending.status == status, "\(words): \(ending)")
            #expect(ending.errors.contains("asking it again") == (status == 0), "\(ending.errors)")
            let after = await pump.fake.calls.state.count { $0.member == "Connect" }
            #expect(after == before + connections)
            #expect(!ending.errors.contains("plug"), "\(ending.errors)")
        }
        #expect(await pump.duty() == nil)
    }

    @Test func `--timeout limits the connection, and -v and the terminal show its progress`() async throws {
        let pump = try await BLEPump()
        await Radio.run { pump.module.radio.manners.resolveDelay = .seconds(3600) }
        let ending = try await pump.run("--timeout", "2", "-v", "-p", "ble:00:15:83:00:00:10", "status")
        expectFailure(ending, 75, saying: "not connected in 2 s", hint: "--timeout")
        #expect(ending.errors.contains("connecting to 00:15:83:00:00:10"))
        // On a terminal, the progress is shown without -v, if connecting takes a while.
        let user = try await TerminalTests.UserTerminal()
        let program = try await Pumpctl.start(
            ["--timeout", "30", "-p", "ble:00:15:83:00:00:10", "status"], environment: pump.bus.environment,
            terminal: user.path)
        try await user.screen.text(upTo: "connecting to 00:15:83:00:00:10 …")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        await user.close()
    }

    @Test func `The pair option pairs with a module that requires it`() async throws {
        let pump = try await BLEPump()
        await Radio.run { pump.module.radio.manners.needsPairing = true }
        expectFailure(
            try await pump.run("-p", "ble:HMSoft", "status"), 77, saying: "the device is not paired", hint: "?pair")
        let pairing = try await pump.run("-p", "ble:HMSoft?pair", "status")
        #expect(pairing.status == 0, "\(pairing)")
        let paired = try await pump.run("-p", "ble:HMSoft", "status")
        #expect(paired.status == 0, "\(paired)")
    }

    @Test func `Pairing that a person must confirm exits with 77`() async throws {
        let pump = try await BLEPump()
        await Radio.run { pump.module.radio.manners.pairing = .confirmation(123_456) }
        expectFailure(
            try await pump.run("-p", "ble:HMSoft?pair", "status"), 77, saying: "the device is not paired",
            hint: "bluetoothctl pair 00:15:83:00:00:10")
    }

    @Test func `A missing adapter exits with 66`() async throws {
        let pump = try await BLEPump()
        let ending = try await pump.run("-p", "ble:HMSoft?adapter=hci7", "status")
        expectFailure(ending, 66, saying: "Bluetooth adapter not found", hint: "choose one of: hci0")
    }

    @Test func `A missing bluetoothd or a switched-off adapter exits with 69`() async throws {
        let pump = try await BLEPump()
        await pump.fake.switchOff()
        expectFailure(
            try await pump.run("-p", "ble:HMSoft", "status"), 69, saying: "the Bluetooth adapter is off", hint: "rfkill"
        )
        await pump.fake.stop()
        expectFailure(
            try await pump.run("-p", "ble:HMSoft", "status"), 69, saying: "bluetoothd is not running",
            hint: "systemctl start bluetooth")
    }

    @Test func `An invalid BLE endpoint exits with 64`() async throws {
        let pump = try await BLEPump()
        expectFailure(
            try await pump.run("-p", "ble:HMSoft?baud=9600", "status"), 64, saying: "not a valid endpoint",
            hint: "adapter")
    }

    @Test func `doctor reports Bluetooth problems of the pump`() async throws {
        let pump = try await BLEPump()
        let healthy = try await pump.run("doctor", "ble:HMSoft")
        #expect(healthy.status == 0, "\(healthy)")
        #expect(healthy.output.contains("the adapter hci0 (00:00:5E:00:53:01) is on"))
        await pump.fake.switchOff()
        let off = try await pump.run("doctor", "ble:HMSoft")
        #expect(off.status == 69 && off.output.contains("bluetoothctl power on"), "\(off)")
        await pump.fake.stop()
        let gone = try await pump.run("doctor", "ble:HMSoft")
        #expect(gone.status == 69 && gone.output.contains("bluetoothd is not running"), "\(gone)")
    }
}
