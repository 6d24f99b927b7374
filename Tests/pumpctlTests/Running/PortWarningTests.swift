import DescriptorIO
import Foundation
import Glibc
import SerialPort
import TestSupport
import Testing

@testable import pumpctl

@Suite("Warnings of other programs on the port")
struct PortWarningTests {
    private static let minicom = PortHolder(processID: 4711, command: "minicom", holdsLock: false)
    private static let shell = PortHolder(processID: 12, command: "sh", holdsLock: false)

    /// The warning for these holders and lock files, in a command that the shell with the process ID 12 has started;
    /// nil for none.
    private func made(
        _ holders: [PortHolder], _ files: [LockFile] = [], seesAll: Bool = true
    ) -> PortWarning? {
        PortWarning(PortUse(path: "/dev/ttyUSB0", holders: holders, lockFiles: files), seesAll: seesAll) {
            HoldingProcess.endingHint($0) { $0 == Self.shell.processID ? .ancestor : .other }
        }
    }

    private func file(_ processID: Int32?, _ command: String?) -> LockFile {
        LockFile(path: "/run/lock/LCK..ttyUSB0", processID: processID, command: command)
    }

    @Test("One other program is named with the command that ends it")
    func one() throws {
        let warning = try #require(made([Self.minicom]))
        #expect(
            warning.text
                == "warning: minicom (pid 4711) has /dev/ttyUSB0 open too: answers may be split between the two")
        #expect(warning.hint == "end it first: kill 4711")
    }

    @Test("Several other programs are named, each with a hint")
    func several() throws {
        let warning = try #require(made([Self.minicom, Self.shell]))
        #expect(warning.text.contains("minicom (pid 4711), sh (pid 12) have /dev/ttyUSB0 open too"))
        #expect(warning.text.hasSuffix("split between them"))
        #expect(warning.hint == "end 4711 first: kill 4711; close it in 12 first, which started this command")
    }

    @Test("A lock file is named if its program is not seen with the port open")
    func lockFile() throws {
        let warning = try #require(made([], [file(4711, "minicom")]))
        #expect(warning.text.contains("minicom (pid 4711) has a lock file for /dev/ttyUSB0 (/run/lock/LCK..ttyUSB0)"))
        let both = try #require(made([Self.minicom], [file(4711, "minicom")]))
        #expect(!both.text.contains("lock file"))
    }

    @Test("Without holders there is no warning")
    func nobody() {
        #expect(made([]) == nil)
        #expect(made([], [file(4711, nil), file(nil, nil)]) == nil)
    }

    @Test("If other users' processes are hidden, the hint suggests sudo fuser")
    func hidden() throws {
        let warning = try #require(made([Self.minicom], seesAll: false))
        #expect(warning.hint.contains("sudo fuser -v /dev/ttyUSB0"))
    }

    @Test("A program's name is printed without control characters")
    func controlCharacters() throws {
        let warning = try #require(made([PortHolder(processID: 1, command: "a\u{1B}[2J", holdsLock: false)]))
        #expect(warning.text.contains("a\\x1b[2J (pid 1)"))
        #expect(!warning.hint.contains("\u{1B}"))
    }

    /// Starts a shell that has a port open.
    private func holder(of port: String) async throws -> ChildProcess {
        let holder = try await ChildProcess(["sh", "-c", "exec 3<>'\(port)'; echo ready; read x"])
        #expect(try await holder.output.line() == "ready")
        return holder
    }

    @Test(
        "A command that receives a damaged line warns of the other program, and can succeed",
        arguments: [["off"], ["-v", "off"], ["status"]])
    func oddAnswer(words: [String]) async throws {
        let status = "STATUS:{State:OFF,WaterTemp:12.0C}\r\n"
        let device = try await ScriptedDevice { line in
            switch line {
            case "OFF": "OK\r\nPUMP:OFF\r\n"
            case "TEMP": "TEMP:34.5\r\n"
            case "STATUS": "TUS:{State:OFF\r\n" + status
            default: ""
            }
        }
        let holder = try await holder(of: device.port)
        let ending = try await Pumpctl.start(["-p", device.port] + words).ending()
        #expect(ending.status == 0)
        #expect(ending.output.hasPrefix("pump"))
        let warning = "warning: sh (pid \(holder.processID)) has \(device.port) open too"
        #expect(ending.errors.contains(warning + ": answers may be split between the two\n  hint: end it first: kill "))
        #expect(ending.errors.split(separator: "\n").count { $0.hasPrefix("warning:") } == 1)
        if words.contains("-v") {
            let places = try ["OFF\\x0a", "warning:"].map {
                try #require(ending.errors.firstRange(of: $0)).lowerBound
            }
            #expect(places == places.sorted())
        }
        await device.close()
    }

    @Test("A command without an answer warns of the other program, and fails")
    func noAnswer() async throws {
        let device = try await ScriptedDevice()
        let holder = try await holder(of: device.port)
        let ending = try await Pumpctl.run("-p", device.port, "--timeout", "0.2", "status")
        #expect(ending.status == 75)
        let warning = "warning: sh (pid \(holder.processID)) has \(device.port) open too"
        #expect(ending.errors.hasPrefix(warning), "\(ending.errors)")
        #expect(ending.errors.contains("no answer"))
        await device.close()
    }

    @Test("A command that gets its reply warns only of a program with a lock file")
    func answered() async throws {
        let pump = try await BenchPump()
        let holder = try await holder(of: pump.port)
        for word in ["status", "off"] {
            #expect(try await Pumpctl.run("-p", pump.port, word).errors == "")
        }
        let name = pump.port.split(separator: "/").suffix(2).joined(separator: "_")
        let file = "\(LockFile.folder)/LCK..\(name)"
        if FileManager.default.createFile(atPath: file, contents: Data("\(holder.processID)\n".utf8)) {
            defer { unlink(file) }
            let ending = try await Pumpctl.run("-p", pump.port, "status")
            #expect(ending.status == 0)
            #expect(ending.errors.hasPrefix("warning: sh (pid \(holder.processID)) has \(pump.port) open too"))
        }
        await pump.close()
    }

    @Test("No warning names the simulator behind the port")
    func simulator() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await Pumpctl.start(["sim", "pump", "--unpaced", "--link", path])
        _ = try await sim.output.line()
        let ending = try await Pumpctl.run("-p", path, "off")
        #expect(ending.status == 0)
        #expect(ending.errors == "")
        sim.send(signal: 15)
        _ = try await sim.ending()
    }

    @Test("A command that only listens warns of the other program")
    func listening() async throws {
        let device = try await ScriptedDevice()
        let holder = try await holder(of: device.port)
        let listener = try await Pumpctl.start(["-p", device.port, "storm", "log", "live"])
        try await listener.errors.text(upTo: "warning: sh (pid \(holder.processID)) has \(device.port) open too")
        listener.send(signal: 15)
        _ = try await listener.ending()
        await device.close()
    }
}
