import TOMLReading

typealias ConfigurationError = TOMLReading.ConfigurationError
