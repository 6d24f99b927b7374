internal import CDBus

/// The response to a received call: a reply, an error, or a handler to run.
enum CallTarget {
    case reply([DBusValue])
    case refuse(DBusError)
    /// Run this handler, which returns the values of the reply.
    case carryOut(@Sendable () async throws -> [DBusValue])

    /// Validates a call, and determines the response.
    init(of call: DBusMethodCall, in tree: ObjectTree) {
        do throws(DBusError) {
            self = try Self.find(call, in: tree)
        } catch {
            self = .refuse(error)
        }
    }

    /// Returns the response to a call.
    ///
    /// - Throws: The error to reply.
    private static func find(_ call: DBusMethodCall, in tree: ObjectTree) throws(DBusError) -> CallTarget {
        // The interface `Peer` answers at every path, even if no object is there.
        if call.interface == BusName.peer { return try peer(call) }
        let object = tree.object(at: call.path)
        if object == nil, tree.children(of: call.path).isEmpty {
            throw DBusError(answering: .unknownObject, "no object \(call.path)")
        }
        if call.member == "Introspect", call.interface == BusName.introspectable || call.interface.isEmpty {
            try expect(call.arguments, [])
            return .reply([.string(Introspection.document(of: object, children: tree.children(of: call.path)))])
        }
        guard let object else { throw unknown(call) }
        switch call.interface {
        case BusName.properties: return try properties(call, object)
        case BusName.objectManager where object.isObjectManager:
            guard call.member == "GetManagedObjects" else { throw unknownMethod(call) }
            try expect(call.arguments, [])
            let objects = tree.objects(below: call.path)
            return .carryOut { [await managedObjects(objects)] }
        case "":
            // A call without an interface goes to the first interface that has the method.
            guard let method = object.interfaces.lazy.flatMap(\.methods).first(where: { $0.name == call.member })
            else { throw unknownMethod(call) }
            return try carryOut(method, call)
        default:
            guard let interface = object.interface(call.interface) else { throw unknown(call) }
            guard let method = interface.methods.first(where: { $0.name == call.member }) else {
                throw unknownMethod(call)
            }
            return try carryOut(method, call)
        }
    }

    private static func carryOut(_ method: DBusMethod, _ call: DBusMethodCall) throws(DBusError) -> CallTarget {
        try expect(call.arguments, method.inputs.map(\.signature))
        return .carryOut {
            let values = try await method.handler(call)
            guard values.map(\.signature) == method.outputs.map(\.signature) else {
                throw DBusError(
                    answering: .failed,
                    "\(call.member) returned values of undeclared types: \(DBusSignature(of: values))")
            }
            return values
        }
    }

    // MARK: Standard interfaces

    private static func peer(_ call: DBusMethodCall) throws(DBusError) -> CallTarget {
        try expect(call.arguments, [])
        switch call.member {
        case "Ping": return .reply([])
        case "GetMachineId":
            guard let identity = cdbus_machine_id() else {
                throw DBusError(answering: .failed, "this computer has no machine id")
            }
            defer { cdbus_free(identity) }
            return .reply([.string(String(cString: identity))])
        default: throw unknownMethod(call)
        }
    }

    private static func properties(_ call: DBusMethodCall, _ object: DBusObject) throws(DBusError) -> CallTarget {
        switch call.member {
        case "Get":
            try expect(call.arguments, ["s", "s"])
            let property = try property(call, object)
            guard let read = property.read else {
                throw DBusError(answering: .invalidArgs, "\(property.name) can't be read")
            }
            return .carryOut {
                let value = try await read()
                guard value.signature == property.signature else {
                    throw DBusError(answering: .failed, "\(property.name) is of type \(value.signature)")
                }
                return [.variant(value)]
            }
        case "GetAll":
            try expect(call.arguments, ["s"])
            let interface = try interface(call, object)
            return .carryOut { [.properties(await interface.readProperties())] }
        case "Set":
            try expect(call.arguments, ["s", "s", "v"])
            let property = try property(call, object)
            guard let write = property.write else {
                throw DBusError(answering: .propertyReadOnly, "\(property.name) can't be written")
            }
            guard case .variant(let value) = call.arguments[2], value.signature == property.signature else {
                throw DBusError(answering: .invalidArgs, "\(property.name) is of type \(property.signature)")
            }
            return .carryOut {
                try await write(value)
                return []
            }
        default: throw unknownMethod(call)
        }
    }

    private static func interface(_ call: DBusMethodCall, _ object: DBusObject) throws(DBusError) -> DBusInterface {
        let name = call.arguments[0].string ?? ""
        guard let interface = object.interface(name) else {
            throw DBusError(answering: .unknownInterface, "\(call.path) has no interface \(name)")
        }
        return interface
    }

    private static func property(_ call: DBusMethodCall, _ object: DBusObject) throws(DBusError) -> DBusProperty {
        let name = call.arguments[1].string ?? ""
        guard let property = try interface(call, object).properties.first(where: { $0.name == name }) else {
            throw DBusError(answering: .unknownProperty, "\(call.path) has no property \(name)")
        }
        return property
    }

    private static func managedObjects(_ objects: [DBusObject]) async -> DBusValue {
        var entries: [DBusDictionary.Entry] = []
        for object in objects {
            entries.append(DBusDictionary.Entry(.objectPath(object.path), await interfaces(of: object)))
        }
        return .dictionary(DBusDictionary(keys: "o", values: "a{sa{sv}}", entries))
    }

    /// Returns the interfaces of an object with the values of their properties: `a{sa{sv}}`.
    static func interfaces(of object: DBusObject) async -> DBusValue {
        var entries: [DBusDictionary.Entry] = []
        for interface in object.interfaces {
            entries.append(
                DBusDictionary.Entry(.string(interface.name), .properties(await interface.readProperties())))
        }
        return .dictionary(DBusDictionary(keys: "s", values: "a{sv}", entries))
    }

    // MARK: Errors

    private static func expect(_ arguments: [DBusValue], _ signatures: [DBusSignature]) throws(DBusError) {
        guard arguments.map(\.signature) == signatures else {
            let wanted = signatures.map(\.text).joined()
            throw DBusError(
                answering: .invalidArgs,
                "expected arguments of type \"\(wanted)\", not \"\(DBusSignature(of: arguments))\"")
        }
    }

    private static func unknown(_ call: DBusMethodCall) -> DBusError {
        if call.interface.isEmpty { return unknownMethod(call) }
        return DBusError(answering: .unknownInterface, "\(call.path) has no interface \(call.interface)")
    }

    private static func unknownMethod(_ call: DBusMethodCall) -> DBusError {
        DBusError(answering: .unknownMethod, "\(call.path) has no method \(call.interface).\(call.member)")
    }
}
