extension SimulatorSettings {
    /// Checks the typed arguments of a verb, which are in the order of `arguments`.
    init(_ given: [String], as arguments: [SimulatorOption], of verb: String) throws(DeviceVerbError) {
        let names = arguments.map(\.name)
        guard given.count == names.count else { throw .argumentCount(of: verb, names: names) }
        let values = Dictionary(uniqueKeysWithValues: zip(names, given))
        do throws(SimulatorOptionError) { try self.init(arguments, values, over: .line) } catch {
            throw .argument(error)
        }
    }
}
