import DBus
import DescriptorIO
import Glibc
import TestSupport
import Testing

@Suite("D-Bus values", .timeLimit(.minutes(5)))
struct ValueTests {
    /// A value of each type, at the ends of its range, with GLib's text for it.
    static let each: [(DBusValue, String)] = [
        (.byte(255), "byte 0xff"), (.boolean(true), "true"), (.boolean(false), "false"),
        (.int16(.min), "int16 -32768"), (.uint16(.max), "uint16 65535"), (.int32(.min), "-2147483648"),
        (.uint32(.max), "uint32 4294967295"), (.int64(.min), "int64 -9223372036854775808"),
        (.uint64(.max), "uint64 18446744073709551615"), (.double(-0.5), "-0.5"), (.string("Grüße"), "'Grüße'"),
        (.string(""), "''"), (.objectPath("/org/bluez"), "objectpath '/org/bluez'"),
        (.signature("a{sv}"), "signature 'a{sv}'"), (.bytes([79, 75]), "[byte 0x4f, 0x4b]"), (.bytes([]), "@ay []"),
        (.strings(["a", "b"]), "['a', 'b']"), (.objectPaths(["/a"]), "[objectpath '/a']"),
        (.array(of: "d", [.double(1), .double(2)]), "[1.0, 2.0]"),
        (.array(of: "b", [.boolean(true), .boolean(false)]), "[true, false]"),
        (.array(of: "n", [.int16(-1)]), "[int16 -1]"), (.array(of: "q", [.uint16(1)]), "[uint16 1]"),
        (.array(of: "i", [.int32(-1)]), "[-1]"), (.array(of: "u", [.uint32(1)]), "[uint32 1]"),
        (.array(of: "x", [.int64(-1)]), "[int64 -1]"), (.array(of: "t", [.uint64(1)]), "[uint64 1]"),
        (.array(of: "v", [.variant(.byte(1)), .variant(.string("s"))]), "[<byte 0x01>, <'s'>]"),
        (.array(of: "a{sv}", []), "@aa{sv} []"), (.array(of: "ay", [.bytes([1])]), "[[byte 0x01]]"),
        (.structure([.byte(1), .structure([.string("in")])]), "(byte 0x01, ('in',))"),
        (.properties(["A": .int32(1), "B": .bytes([2])]), "{'A': <1>, 'B': <[byte 0x02]>}"),
        (
            .dictionary(DBusDictionary(keys: "q", values: "ay", [.init(.uint16(76), .bytes([2]))])),
            "{uint16 76: [byte 0x02]}"
        ),
        (.dictionary(DBusDictionary(keys: "q", values: "v", [])), "@a{qv} {}"),
        (.variant(.variant(.int32(1))), "<<1>>"),
    ]

    @Test func `Values of each type are exchanged unchanged with another program`() async throws {
        try await withPeers { peers in
            let properties = Self.each.enumerated().map { index, item in
                DBusProperty("P\(index)", item.0.signature, read: { item.0 })
            }
            try await peers.far.export(.test([], properties: properties))
            for (index, item) in Self.each.enumerated() {
                let read = try await peers.bus.run([
                    "gdbus", "call", "--session", "--dest", await peers.far.uniqueName, "--object-path",
                    testPath.text, "--method", "org.freedesktop.DBus.Properties.Get", testInterface, "P\(index)",
                ])
                #expect(read.output == "(<\(item.1)>,)\n", "\(item.0): \(read.errors)")
            }
            let signals = try await peers.near.signals(matching: DBusMatchRule(interface: testInterface))
            var iterator = signals.makeAsyncIterator()
            for (value, text) in Self.each {
                let emitted = try await peers.bus.run([
                    "gdbus", "emit", "--session", "--object-path", testPath.text, "--signal",
                    "\(testInterface).Value", "<\(text)>",
                ])
                #expect(emitted.status == 0, "\(emitted.errors)")
                #expect(try await iterator.next()?.arguments == [.variant(value)])
            }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `Random values arrive as they were sent`(seed: UInt64) async throws {
        try await withPeers { peers in
            var random = RandomValues(seed: seed)
            let signals = try await peers.near.signals(matching: DBusMatchRule(interface: testInterface))
            var iterator = signals.makeAsyncIterator()
            for _ in 0..<400 {
                let values = (0..<3).map { _ in random.value() }
                try await peers.far.emitSignal(testPath, testInterface, "Values", values)
                let signal = try await iterator.next()
                #expect(signal?.arguments == values)
            }
        }
    }

    @Test func `Descriptors are passed as copies`() async throws {
        try await withPeers { peers in
            #expect(await peers.near.passesDescriptors)
            let far = peers.far
            try await far.export(
                .test([
                    DBusMethod(
                        "Swap", inputs: [DBusArgument("in", "h"), DBusArgument("all", "ah")],
                        outputs: [DBusArgument("out", "h")]
                    ) { call in
                        // Writes to the first descriptor, and returns the second.
                        guard let given = call.arguments.first?.unixFD, let other = call.arguments.last?.array?.first
                        else { throw DBusError(answering: .invalidArgs, "no descriptors") }
                        _ = write(given.number, "OK", 2)
                        return [other]
                    }
                ]))
            func swap() async throws {
                var ends: [CInt] = [-1, -1]
                let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
                try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
                let (near, other) = (OwnedDescriptor(taking: ends[0]), OwnedDescriptor(taking: ends[1]))
                let arguments: [DBusValue] = [.unixFD(other), .array(of: "h", [.unixFD(near)])]
                let reply = try await peers.near.call(await toTest(far, "Swap", arguments))
                let returned = try #require(reply.first?.unixFD)
                #expect(returned.number != near.number)
                // The returned descriptor leads to the same socket as `near`: the method's bytes can be read there.
                var bytes: [UInt8] = [0, 0]
                #expect(read(returned.number, &bytes, 2) == 2)
                #expect(bytes == Array("OK".utf8))
            }
            try await swap()
        }
    }

    @Test func `A value is read as its type, through variants`() {
        let value = DBusValue.variant(.variant(.uint16(517)))
        #expect(value.uint16 == 517)
        #expect(value.integer == 517)
        #expect(value.string == nil)
        #expect(value.bytes == nil)
        #expect(DBusValue.array(of: "y", [.byte(1), .byte(2)]).bytes == [1, 2])
        #expect(DBusValue.strings(["a"]).strings == ["a"])
        #expect(DBusValue.properties(["MTU": .uint16(23)]).properties?["MTU"]?.integer == 23)
        #expect(DBusValue.uint64(.max).integer == nil)
    }

    @Test func `Object paths, signatures and error names are validated`() {
        for text in ["/", "/org/bluez/hci0", "/_/9"] { #expect(ObjectPath(text) != nil) }
        for text in ["", "a", "/a/", "//", "/ä", "/a\0"] { #expect(ObjectPath(text) == nil) }
        for text in ["", "a{sv}(ii)", "aay"] { #expect(DBusSignature(text) != nil) }
        for text in ["a", "z", "{sv}", "a{vs}", "("] { #expect(DBusSignature(text) == nil) }
        for text in ["", "plain", "a..b", "a.b c"] { #expect(DBusErrorName(text) == nil) }
        #expect(DBusSignature("a{sv}(ia(s))ay").parts == ["a{sv}", "(ia(s))", "ay"])
        let path: ObjectPath = "/org/bluez"
        #expect(path.parent == "/org")
        #expect(ObjectPath("/org").parent == .root)
        #expect(ObjectPath.root.parent == nil)
        #expect(path.isWithin("/org") && path.isWithin(path) && path.isWithin(.root))
        #expect(!ObjectPath("/orgs").isWithin("/org"))
        #expect(path.appending("hci0") == "/org/bluez/hci0")
        #expect(path.appending("hci 0") == nil)
    }
}
