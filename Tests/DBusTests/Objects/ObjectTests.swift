import DBus
import DescriptorIO
import TestSupport
import Testing

@Suite("Exported objects", .timeLimit(.minutes(5)))
struct ObjectTests {
    /// Exports a lamp that other programs can read, dim and introspect, and an object manager above it.
    private func exportLamp(on connection: DBusConnection, _ percent: Watched<UInt8>) async throws {
        let dim = DBusMethod("Dim", inputs: [DBusArgument("percent", "y")], outputs: [DBusArgument("was", "y")]) {
            call in
            guard let wanted = call.arguments.first?.byte, wanted <= 100 else {
                throw DBusError(answering: "org.example.Error.TooBright", "at most 100")
            }
            let previous = percent.update { percent in
                defer { percent = wanted }
                return percent
            }
            return [.byte(previous)]
        }
        let properties = [
            DBusProperty("Percent", "y", read: { .byte(percent.state) }) { value in
                percent.update { $0 = value.byte ?? 0 }
            },
            DBusProperty("Name", "s", changeNotice: .constant, read: { .string("Lamp & \"Co\"") }),
            DBusProperty("Secret", "s", changeNotice: .none, read: nil) { _ in },
        ]
        let interface = DBusInterface(
            testInterface, methods: [dim], properties: properties,
            signals: [DBusSignalDescription("Burnt", [DBusArgument("reason <why>", "s")])])
        try await connection.export(DBusObject(testPath, [interface]))
        try await connection.export(DBusObject("/org/example", isObjectManager: true))
    }

    @Test func `Another program can call, read, write and introspect an exported object`() async throws {
        try await withPeers { peers in
            let percent = Watched<UInt8>(30)
            try await exportLamp(on: peers.far, percent)
            #expect(try await peers.far.requestName("org.example.Lamp") == .owner)
            func gdbus(_ arguments: String...) async throws -> ChildProcess.Ending {
                try await peers.bus.run(
                    ["gdbus", arguments[0], "--session", "--dest", "org.example.Lamp", "--object-path"]
                        + arguments.dropFirst())
            }
            let called = try await gdbus("call", testPath.text, "--method", "\(testInterface).Dim", "55")
            #expect(called.output == "(byte 0x1e,)\n", "\(called.errors)")
            #expect(percent.state == 55)
            let refused = try await gdbus("call", testPath.text, "--method", "\(testInterface).Dim", "101")
            #expect(refused.errors.contains("org.example.Error.TooBright: at most 100"))
            let all = try await gdbus(
                "call", testPath.text, "--method", "org.freedesktop.DBus.Properties.GetAll", testInterface)
            #expect(all.output == "({'Name': <'Lamp & \"Co\"'>, 'Percent': <byte 0x37>},)\n", "\(all.errors)")
            let set = try await gdbus(
                "call", testPath.text, "--method", "org.freedesktop.DBus.Properties.Set", testInterface, "Percent",
                "<byte 7>")
            #expect(set.output == "()\n", "\(set.errors)")
            #expect(percent.state == 7)
            let managed = try await gdbus(
                "call", "/org/example", "--method", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
            #expect(managed.output.contains("objectpath '/org/example/test'"), "\(managed.errors)")
            #expect(managed.output.contains("'Percent': <byte 0x07>"))
            let introspected = try await gdbus("introspect", testPath.text)
            #expect(introspected.output.contains("Dim(in  y percent,"), "\(introspected.errors)")
            #expect(introspected.output.contains("readwrite y Percent = 0x07;"))
            #expect(introspected.output.contains("Burnt(s reason <why>)"))
            let root = try await gdbus("introspect", "/")
            #expect(root.output.contains("node org {"), "\(root.errors)")
            let ping = try await gdbus("call", testPath.text, "--method", "org.freedesktop.DBus.Peer.Ping")
            #expect(ping.output == "()\n", "\(ping.errors)")
        }
    }

    @Test func `Properties are read and written by name, and invalid access fails with the matching error`()
        async throws
    {
        try await withPeers { peers in
            let percent = Watched<UInt8>(30)
            try await exportLamp(on: peers.far, percent)
            let far = await peers.far.uniqueName
            let near = peers.near
            #expect(try await near.property("Percent", of: testInterface, at: testPath, of: far) == .byte(30))
            try await near.setProperty("Percent", of: testInterface, at: testPath, of: far, to: .byte(31))
            #expect(percent.state == 31)
            let all = try await near.properties(of: testInterface, at: testPath, of: far)
            #expect(all == ["Percent": .byte(31), "Name": .string("Lamp & \"Co\"")])
            func failure(_ body: () async throws -> Void) async -> DBusErrorName? {
                await #expect(throws: DBusError.self) { try await body() }?.name
            }
            let unknown = await failure {
                _ = try await near.property("Color", of: testInterface, at: testPath, of: far)
            }
            #expect(unknown == .unknownProperty)
            let other = await failure { _ = try await near.properties(of: "org.example.B", at: testPath, of: far) }
            #expect(other == .unknownInterface)
            let unreadable = await failure {
                _ = try await near.property("Secret", of: testInterface, at: testPath, of: far)
            }
            #expect(unreadable == .invalidArgs)
            let unwritable = await failure {
                try await near.setProperty("Name", of: testInterface, at: testPath, of: far, to: .string("L"))
            }
            #expect(unwritable == .propertyReadOnly)
            let wrong = await failure {
                try await near.setProperty("Percent", of: testInterface, at: testPath, of: far, to: .string("L"))
            }
            #expect(wrong == .invalidArgs)
        }
    }

    @Test func `The object manager announces added and removed objects`() async throws {
        try await withPeers { peers in
            try await exportLamp(on: peers.far, Watched(1))
            let signals = try await peers.near.signals(
                matching: DBusMatchRule(path: "/org/example", interface: "org.freedesktop.DBus.ObjectManager"))
            let path: ObjectPath = "/org/example/later"
            let property = DBusProperty("Level", "u", read: { .uint32(9) })
            try await peers.far.export(DBusObject(path, [DBusInterface("org.example.Later", properties: [property])]))
            let twice = await #expect(throws: DBusError.self) { try await peers.far.export(DBusObject(path)) }
            #expect(twice?.code == .invalidArgument)
            try await peers.far.unexport(path)
            try await peers.far.unexport(path)
            try await peers.settle()
            signals.cancel()
            var seen: [[DBusValue]] = []
            for try await signal in signals { seen.append(signal.arguments) }
            #expect(seen.count == 2)
            #expect(seen.first?.first == .objectPath(path))
            let interfaces = seen.first?.last?.properties
            #expect(interfaces?["org.example.Later"]?.properties == ["Level": .uint32(9)])
            #expect(seen.last == [.objectPath(path), .strings(["org.example.Later"])])
            let error = await #expect(throws: DBusError.self) {
                try await peers.near.properties(of: "org.example.Later", at: path, of: await peers.far.uniqueName)
            }
            #expect(error?.name == .unknownObject)
        }
    }

    @Test func `An object with an invalid name is refused`() async throws {
        try await withPeers { peers in
            let objects = [
                DBusObject("/a", [DBusInterface("plain")]),
                DBusObject("/a", [DBusInterface("org.example.A", methods: [DBusMethod("a-b") { _ in [] }])]),
                DBusObject(
                    "/a", [DBusInterface("org.example.A", properties: [DBusProperty("P", "ss", read: nil)])]),
            ]
            for object in objects {
                let error = await #expect(throws: DBusError.self) { try await peers.far.export(object) }
                #expect(error?.code == .invalidArgument)
            }
        }
    }
}
